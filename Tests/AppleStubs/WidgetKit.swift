public import ActivityKit
public import AppIntents
public import Foundation
public import SwiftUI

// https://developer.apple.com/documentation/widgetkit/widgetcenter and its members
// Neither center is Sendable here. Its page says `static let shared`, so Apple's may well be: until
// that is read, code calls its `async` members from `@concurrent` functions.
public class WidgetCenter {
    init() { fatalError() }
    public class var shared: WidgetCenter { fatalError() }
    public func reloadTimelines(ofKind kind: String) {}
    public func reloadAllTimelines() {}
    @preconcurrency
    public func getCurrentConfigurations(
        _ completion: @escaping @Sendable (Result<[WidgetInfo], any Error>) -> Void
    ) {}
    @available(iOS 18.0, *)
    public func currentConfigurations() async throws -> [WidgetInfo] { fatalError() }
    @available(iOS 26.0, *)
    public var currentPushInfo: WidgetPushInfo? { get async { fatalError() } }
}
// https://developer.apple.com/documentation/widgetkit/widgetinfo
// That `@preconcurrency` stands for Sendable, as in the results above: from memory.
public struct WidgetInfo: Sendable {
    public let kind: String
    public let family: WidgetFamily
}

// https://developer.apple.com/documentation/widgetkit/widgetpushhandler
// https://developer.apple.com/documentation/widgetkit/widgetpushinfo
@available(iOS 26.0, *)
public protocol WidgetPushHandler {
    init()
    func pushTokenDidChange(_ pushInfo: WidgetPushInfo, widgets: [WidgetInfo])
}
@available(iOS 26.0, *)
public struct WidgetPushInfo: Sendable { public let token: Data }

// https://developer.apple.com/documentation/widgetkit/controlpushhandler
// https://developer.apple.com/documentation/widgetkit/controlinfo/pushinfo
// https://developer.apple.com/documentation/widgetkit/controlcenter
@available(iOS 18.0, *)
public protocol ControlPushHandler {
    init()
    func pushTokensDidChange(controls: [ControlInfo])
}
@available(iOS 18.0, *)
public struct ControlInfo {
    public let kind: String
    public var pushInfo: ControlPushInfo?
}
@available(iOS 18.0, *)
public struct ControlPushInfo { public let token: Data }
@available(iOS 18.0, *)
public class ControlCenter {
    init() { fatalError() }
    public class var shared: ControlCenter { fatalError() }
    public func reloadControls(ofKind kind: String) {}
    public func reloadAllControls() {}
    public func currentControls() async throws -> [ControlInfo] { fatalError() }
}

// https://developer.apple.com/documentation/widgetkit/timelineprovider and its methods
// https://developer.apple.com/documentation/widgetkit/appintenttimelineprovider
// https://developer.apple.com/documentation/widgetkit/timelinereloadpolicy
// `TimelineEntry` and the context: from memory, pages not read.
public protocol TimelineEntry { var date: Date { get } }
public struct TimelineProviderContext {
    public let family: WidgetFamily
    public let isPreview: Bool
    public let displaySize: CGSize
}
public struct TimelineReloadPolicy: Equatable {
    public static var atEnd: TimelineReloadPolicy { fatalError() }
    public static var never: TimelineReloadPolicy { fatalError() }
    public static func after(_ date: Date) -> TimelineReloadPolicy { fatalError() }
}
public struct Timeline<EntryType> where EntryType: TimelineEntry {
    public let entries: [EntryType]
    public let policy: TimelineReloadPolicy
    public init(entries: [EntryType], policy: TimelineReloadPolicy) { fatalError() }
}
public protocol TimelineProvider {
    associatedtype Entry: TimelineEntry
    typealias Context = TimelineProviderContext
    func placeholder(in context: Self.Context) -> Self.Entry
    @preconcurrency
    func getSnapshot(
        in context: Self.Context, completion: @escaping @Sendable (Self.Entry) -> Void)
    @preconcurrency
    func getTimeline(
        in context: Self.Context, completion: @escaping @Sendable (Timeline<Self.Entry>) -> Void)
}
@available(iOS 17.0, *)
public protocol AppIntentTimelineProvider {
    associatedtype Entry: TimelineEntry
    associatedtype Intent: WidgetConfigurationIntent
    typealias Context = TimelineProviderContext
    func placeholder(in context: Self.Context) -> Self.Entry
    func snapshot(for configuration: Self.Intent, in context: Self.Context) async -> Self.Entry
    func timeline(
        for configuration: Self.Intent, in context: Self.Context
    ) async -> Timeline<Self.Entry>
}

// https://developer.apple.com/documentation/widgetkit/widgetfamily (from memory, page not read)
public enum WidgetFamily: Int, Sendable {
    case systemSmall, systemMedium, systemLarge, systemExtraLarge
    case accessoryCircular, accessoryRectangular, accessoryInline
}

// https://developer.apple.com/documentation/widgetkit/staticconfiguration
// https://developer.apple.com/documentation/widgetkit/appintentconfiguration
// https://developer.apple.com/documentation/widgetkit/activityconfiguration
@MainActor @preconcurrency public struct StaticConfiguration<Content>: WidgetConfiguration
where Content: View {
    @MainActor @preconcurrency
    public init<Provider>(
        kind: String, provider: Provider,
        @ViewBuilder content: @escaping (Provider.Entry) -> Content
    ) where Provider: TimelineProvider { fatalError() }
    public var body: Never { fatalError() }
}
@available(iOS 17.0, *)
@MainActor @preconcurrency
public struct AppIntentConfiguration<Intent, Content>:
    WidgetConfiguration
where Intent: WidgetConfigurationIntent, Content: View {
    @MainActor @preconcurrency
    public init<Provider>(
        kind: String, intent: Intent.Type = Intent.self, provider: Provider,
        @ViewBuilder content: @escaping (Provider.Entry) -> Content
    ) where Intent == Provider.Intent, Provider: AppIntentTimelineProvider { fatalError() }
    public var body: Never { fatalError() }
}
@available(macCatalyst, unavailable)
@MainActor @preconcurrency public struct ActivityConfiguration<Attributes>: WidgetConfiguration
where Attributes: ActivityAttributes {
    @MainActor @preconcurrency
    public init<Content>(
        for attributesType: Attributes.Type,
        @ViewBuilder content: @escaping (ActivityViewContext<Attributes>) -> Content,
        dynamicIsland: @escaping (ActivityViewContext<Attributes>) -> DynamicIsland
    ) where Content: View { fatalError() }
    public var body: Never { fatalError() }
}
// https://developer.apple.com/documentation/widgetkit/activityviewcontext
@available(macCatalyst, unavailable)
public struct ActivityViewContext<Attributes> where Attributes: ActivityAttributes {
    public let attributes: Attributes
    public let state: Attributes.ContentState
    public let activityID: String
    public let isStale: Bool
}

// https://developer.apple.com/documentation/widgetkit/dynamicisland
// https://developer.apple.com/documentation/widgetkit/dynamicislandexpandedregion
// https://developer.apple.com/documentation/widgetkit/dynamicislandexpandedcontentbuilder
@available(macCatalyst, unavailable)
public struct DynamicIsland {
    public init<Expanded, CompactLeading, CompactTrailing, Minimal>(
        @DynamicIslandExpandedContentBuilder
        expanded: @escaping () -> DynamicIslandExpandedContent<Expanded>,
        @ViewBuilder compactLeading: @escaping () -> CompactLeading,
        @ViewBuilder compactTrailing: @escaping () -> CompactTrailing,
        @ViewBuilder minimal: @escaping () -> Minimal
    ) where Expanded: View, CompactLeading: View, CompactTrailing: View, Minimal: View {
        fatalError()
    }
    public func widgetURL(_ url: URL?) -> DynamicIsland { fatalError() }
    public func keylineTint(_ color: Color?) -> DynamicIsland { fatalError() }
}
@available(macCatalyst, unavailable)
public struct DynamicIslandExpandedContent<Content> where Content: View {}
@available(macCatalyst, unavailable)
public struct DynamicIslandExpandedRegionPosition {
    public static var leading: DynamicIslandExpandedRegionPosition { fatalError() }
    public static var trailing: DynamicIslandExpandedRegionPosition { fatalError() }
    public static var center: DynamicIslandExpandedRegionPosition { fatalError() }
    public static var bottom: DynamicIslandExpandedRegionPosition { fatalError() }
}
@available(macCatalyst, unavailable)
public struct DynamicIslandExpandedRegion<Content> where Content: View {
    public init(
        _ position: DynamicIslandExpandedRegionPosition, priority: Double = 0,
        @ViewBuilder content: () -> Content
    ) { fatalError() }
}
@available(macCatalyst, unavailable)
@resultBuilder public struct DynamicIslandExpandedContentBuilder {
    public static func buildPartialBlock<C>(
        first: DynamicIslandExpandedRegion<C>
    ) -> DynamicIslandExpandedContent<some View> {
        DynamicIslandExpandedContent<EmptyView>()
    }
    public static func buildPartialBlock<C0, C1>(
        accumulated: DynamicIslandExpandedContent<C0>, next: DynamicIslandExpandedRegion<C1>
    ) -> DynamicIslandExpandedContent<some View> {
        DynamicIslandExpandedContent<EmptyView>()
    }
}

// Modifiers.
// https://developer.apple.com/documentation/swiftui/widgetconfiguration/supportedfamilies(_:)
// https://developer.apple.com/documentation/swiftui/widgetconfiguration/pushhandler(_:)
// https://developer.apple.com/documentation/swiftui/controlwidgetconfiguration/pushhandler(_:)
// https://developer.apple.com/documentation/swiftui/view/activitybackgroundtint(_:)
// `widgetURL(_:)` of a view, and the names of a control: from memory, pages not read.
extension WidgetConfiguration {
    public func supportedFamilies(_ families: [WidgetFamily]) -> some WidgetConfiguration { self }
    public func configurationDisplayName<S>(_ displayName: S) -> some WidgetConfiguration
    where S: StringProtocol { self }
    public func description<S>(_ description: S) -> some WidgetConfiguration
    where S: StringProtocol { self }
    @available(iOS 26.0, *)
    public func pushHandler(
        _ pushHandlerType: any WidgetPushHandler.Type
    ) -> some WidgetConfiguration { self }
}
@available(iOS 18.0, *)
extension ControlWidgetConfiguration {
    public func displayName(
        _ name: LocalizedStringResource
    ) -> some ControlWidgetConfiguration { self }
    public func description(
        _ text: LocalizedStringResource
    ) -> some ControlWidgetConfiguration { self }
    public func pushHandler(
        _ pushHandlerType: any ControlPushHandler.Type
    ) -> some ControlWidgetConfiguration { self }
}
extension View {
    @available(macCatalyst, unavailable)
    public func activityBackgroundTint(_ color: Color?) -> some View { self }
    @available(macCatalyst, unavailable)
    public func activitySystemActionForegroundColor(_ color: Color?) -> some View { self }
    public func widgetURL(_ url: URL?) -> some View { self }
}
@available(iOS 17.0, *)
extension ContainerBackgroundPlacement {
    public static let widget = ContainerBackgroundPlacement(stub: ())
}

// https://developer.apple.com/documentation/widgetkit/staticcontrolconfiguration
// https://developer.apple.com/documentation/widgetkit/controlvalueprovider
// https://developer.apple.com/documentation/widgetkit/controlwidgettoggle
// https://developer.apple.com/documentation/widgetkit/controlwidgetbutton
// The template's own protocol and builder: from memory.
@available(iOS 18.0, *)
public protocol ControlValueProvider {
    associatedtype Value
    var previewValue: Self.Value { get }
    func currentValue() async throws -> Self.Value
}
@available(iOS 18.0, *)
@MainActor @preconcurrency public protocol ControlWidgetTemplate {
    associatedtype Body: ControlWidgetTemplate
    @MainActor @preconcurrency var body: Self.Body { get }
}
@available(iOS 18.0, *)
extension Never: ControlWidgetTemplate {}
@available(iOS 18.0, *)
@resultBuilder public struct ControlWidgetTemplateBuilder {
    public static func buildBlock<C: ControlWidgetTemplate>(_ content: C) -> C { content }
}
@available(iOS 18.0, *)
@MainActor @preconcurrency
public struct StaticControlConfiguration<Content>:
    ControlWidgetConfiguration
where Content: ControlWidgetTemplate {
    @MainActor @preconcurrency
    public init<Provider>(
        kind: String, provider: Provider,
        @ControlWidgetTemplateBuilder content: @escaping (Provider.Value) -> Content
    ) where Provider: ControlValueProvider { fatalError() }
    @MainActor @preconcurrency
    public init(kind: String, @ControlWidgetTemplateBuilder content: @escaping () -> Content) {
        fatalError()
    }
    public var body: Never { fatalError() }
}
@available(iOS 18.0, *)
@MainActor @preconcurrency
public struct ControlWidgetToggle<Label, ValueLabel, Action>:
    ControlWidgetTemplate
where Label: View, ValueLabel: View {
    @MainActor @preconcurrency
    public init(
        isOn: Bool, action: Action, @ViewBuilder label: @escaping () -> Label,
        @ViewBuilder valueLabel: @escaping (Bool) -> ValueLabel
    ) where Action: SetValueIntent, Action.ValueType == Bool { fatalError() }
    @MainActor @preconcurrency
    public init(
        _ titleResource: LocalizedStringResource, isOn: Bool, action: Action,
        @ViewBuilder valueLabel: @escaping (Bool) -> ValueLabel
    ) where Label == Text, Action: SetValueIntent, Action.ValueType == Bool { fatalError() }
    public var body: Never { fatalError() }
}
@available(iOS 18.0, *)
@MainActor @preconcurrency
public struct ControlWidgetButton<Label, ActionLabel, Action>:
    ControlWidgetTemplate
where Label: View, ActionLabel: View {
    @MainActor @preconcurrency
    public init(
        action: Action, @ViewBuilder label: @escaping () -> Label,
        @ViewBuilder actionLabel: @escaping (Bool) -> ActionLabel
    ) where Action: AppIntent { fatalError() }
    public var body: Never { fatalError() }
}
