public import Foundation
public import UIKit

// Modifiers are from memory where no page is named. Their results are opaque, as Apple's are.

// https://developer.apple.com/documentation/swiftui/view (from memory, page not read)
@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Self.Body { get }
}
// Not Apple's: the views that SwiftUI draws itself.
public protocol DrawnView: View where Body == Never {}
extension DrawnView { public var body: Never { fatalError() } }
extension Never: View { public var body: Never { fatalError() } }
extension Optional: View, DrawnView where Wrapped: View { public typealias Body = Never }

// https://developer.apple.com/documentation/swiftui/viewbuilder (from memory, page not read)
@resultBuilder public struct ViewBuilder {
    public static func buildBlock() -> EmptyView { fatalError() }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildBlock<each Content: View>(
        _ content: repeat each Content
    ) -> TupleView<(repeat each Content)> { fatalError() }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<T: View, F: View>(first: T) -> ConditionalContent<T, F> {
        fatalError()
    }
    public static func buildEither<T: View, F: View>(second: F) -> ConditionalContent<T, F> {
        fatalError()
    }
    public static func buildLimitedAvailability<C: View>(_ content: C) -> AnyView { fatalError() }
}
public struct EmptyView: DrawnView { nonisolated public init() { fatalError() } }
public struct AnyView: DrawnView { nonisolated public init<V: View>(_ view: V) { fatalError() } }
public struct TupleView<T>: DrawnView {}
public struct ConditionalContent<T: View, F: View>: DrawnView {}

// https://developer.apple.com/documentation/swiftui/app
// https://developer.apple.com/documentation/swiftui/scene
@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
    @MainActor @preconcurrency init()
}
extension App { @MainActor @preconcurrency public static func main() {} }
@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Self.Body { get }
}
extension Never: Scene {}
@resultBuilder public struct SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}
public struct WindowGroup<Content: View>: Scene {
    nonisolated public init(@ViewBuilder content: @escaping () -> Content) { fatalError() }
    public var body: Never { fatalError() }
}
public enum ScenePhase: Comparable, Hashable, Sendable { case background, inactive, active }

// https://developer.apple.com/documentation/swiftui/uiapplicationdelegateadaptor
@MainActor @preconcurrency @propertyWrapper
public struct UIApplicationDelegateAdaptor<DelegateType>
where DelegateType: NSObject, DelegateType: UIApplicationDelegate {
    @MainActor @preconcurrency
    public init(_ delegateType: DelegateType.Type = DelegateType.self) { fatalError() }
    @MainActor @preconcurrency public var wrappedValue: DelegateType { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/state (from memory, page not read)
// https://developer.apple.com/documentation/swiftui/environment (from memory, page not read)
@propertyWrapper public struct State<Value> {
    public init(wrappedValue value: Value) { fatalError() }
    public init(initialValue value: Value) { fatalError() }
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { fatalError() }
}
extension State: Sendable where Value: Sendable {}
@propertyWrapper public struct Binding<Value> {
    @preconcurrency
    public init(
        get: @escaping @isolated(any) @Sendable () -> Value,
        set: @escaping @isolated(any) @Sendable (Value) -> Void
    ) { fatalError() }
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { fatalError() }
}
@propertyWrapper public struct Environment<Value> {
    public init(_ keyPath: KeyPath<EnvironmentValues, Value>) { fatalError() }
    public var wrappedValue: Value { fatalError() }
}
public struct EnvironmentValues {
    public var scenePhase: ScenePhase { fatalError() }
    public var isLuminanceReduced: Bool { fatalError() }
    public var openURL: OpenURLAction { fatalError() }
}
@MainActor @preconcurrency public struct OpenURLAction {
    public func callAsFunction(_ url: URL) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/text
// (its `init(timerInterval:pauseTime:countsDown:showsHours:)` was read)
public struct LocalizedStringKey: Equatable, ExpressibleByStringInterpolation {
    public init(stringLiteral value: String) { fatalError() }
}
public struct Text: DrawnView {
    nonisolated public init(
        _ key: LocalizedStringKey, tableName: String? = nil, bundle: Bundle? = nil
    ) { fatalError() }
    @_disfavoredOverload
    nonisolated public init<S: StringProtocol>(_ content: S) { fatalError() }
    nonisolated public init(verbatim content: String) { fatalError() }
    nonisolated public init(
        timerInterval: ClosedRange<Date>, pauseTime: Date? = nil, countsDown: Bool = true,
        showsHours: Bool = true
    ) { fatalError() }
    nonisolated public func monospacedDigit() -> Text { fatalError() }
    nonisolated public func bold() -> Text { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/button
// https://developer.apple.com/documentation/swiftui/button/init(action:label:)
public struct Button<Label: View>: DrawnView {
    @preconcurrency
    nonisolated public init(
        action: @escaping @MainActor () -> Void, @ViewBuilder label: () -> Label
    ) { fatalError() }
}
extension Button where Label == Text {
    @preconcurrency
    nonisolated public init(
        _ titleKey: LocalizedStringKey, action: @escaping @MainActor () -> Void
    ) { fatalError() }
    @_disfavoredOverload @preconcurrency
    nonisolated public init<S: StringProtocol>(
        _ title: S, action: @escaping @MainActor () -> Void
    ) { fatalError() }
}

// Other views: from memory, pages not read.
public enum HorizontalAlignment: Sendable { case leading, center, trailing }
public enum Edge {
    public struct Set: OptionSet, Sendable {
        public let rawValue: Int8
        public init(rawValue: Int8) { fatalError() }
        public static let horizontal = Set(rawValue: 1)
        public static let vertical = Set(rawValue: 2)
        public static let all = Set(rawValue: 3)
    }
}
public enum VerticalAlignment: Sendable { case top, center, bottom, firstTextBaseline }
public struct Alignment: Sendable {
    public static let center = Alignment()
    public static let leading = Alignment()
    public static let trailing = Alignment()
    public static let topLeading = Alignment()
}
public struct HStack<Content: View>: DrawnView {
    nonisolated public init(
        alignment: VerticalAlignment = .center, spacing: CGFloat? = nil,
        @ViewBuilder content: () -> Content
    ) { fatalError() }
}
public struct VStack<Content: View>: DrawnView {
    nonisolated public init(
        alignment: HorizontalAlignment = .center, spacing: CGFloat? = nil,
        @ViewBuilder content: () -> Content
    ) { fatalError() }
}
public struct ZStack<Content: View>: DrawnView {
    nonisolated public init(
        alignment: Alignment = .center, @ViewBuilder content: () -> Content
    ) { fatalError() }
}
public struct Group<Content: View>: DrawnView {
    nonisolated public init(@ViewBuilder content: () -> Content) { fatalError() }
}
public struct List<Content: View>: DrawnView {
    nonisolated public init(@ViewBuilder content: () -> Content) { fatalError() }
}
public struct NavigationStack<Root: View>: DrawnView {
    nonisolated public init(@ViewBuilder root: () -> Root) { fatalError() }
}
public struct ForEach<Data: RandomAccessCollection, ID: Hashable, Content: View>: DrawnView {
    nonisolated public init(
        _ data: Data, id: KeyPath<Data.Element, ID>,
        @ViewBuilder content: @escaping (Data.Element) -> Content
    ) { fatalError() }
}
extension ForEach where Data.Element: Identifiable, ID == Data.Element.ID {
    nonisolated public init(
        _ data: Data, @ViewBuilder content: @escaping (Data.Element) -> Content
    ) { fatalError() }
}
public struct GeometryReader<Content: View>: DrawnView {
    nonisolated public init(@ViewBuilder content: @escaping (GeometryProxy) -> Content) {
        fatalError()
    }
}
public struct GeometryProxy: Sendable { public var size: CGSize { fatalError() } }
public struct RoundedRectangle: DrawnView {
    nonisolated public init(cornerRadius: CGFloat) { fatalError() }
}
public struct Spacer: DrawnView { nonisolated public init() { fatalError() } }
public struct Image: DrawnView {
    nonisolated public init(systemName: String) { fatalError() }
    nonisolated public init(uiImage: UIImage) { fatalError() }
    nonisolated public init(_ name: String, bundle: Bundle? = nil) { fatalError() }
    nonisolated public func resizable() -> Image { fatalError() }
}
public struct Label<Title: View, Icon: View>: DrawnView {}
extension Label where Title == Text, Icon == Image {
    nonisolated public init(_ titleKey: LocalizedStringKey, systemImage: String) { fatalError() }
    @_disfavoredOverload
    nonisolated public init<S: StringProtocol>(_ title: S, systemImage: String) { fatalError() }
}
public struct Link<Label: View>: DrawnView {
    nonisolated public init(destination: URL, @ViewBuilder label: () -> Label) { fatalError() }
}
public struct ProgressView<Label: View>: DrawnView {}
extension ProgressView where Label == EmptyView {
    nonisolated public init<V: BinaryFloatingPoint>(value: V?, total: V = 1.0) { fatalError() }
    nonisolated public init(timerInterval: ClosedRange<Date>, countsDown: Bool = true) {
        fatalError()
    }
}

// Styles: from memory, pages not read.
public protocol ShapeStyle: Sendable {}
public struct Color: ShapeStyle, Hashable, DrawnView {
    nonisolated public init(red: Double, green: Double, blue: Double, opacity: Double = 1) {
        fatalError()
    }
    public static let black = Color(red: 0, green: 0, blue: 0)
    public static let white = Color(red: 1, green: 1, blue: 1)
    public static let red = Color(red: 1, green: 0, blue: 0)
    public static let green = Color(red: 0, green: 1, blue: 0)
    public static let clear = Color(red: 0, green: 0, blue: 0, opacity: 0)
    public static let primary = Color(red: 0, green: 0, blue: 0)
    public static let secondary = Color(red: 0, green: 0, blue: 0)
}
extension ShapeStyle where Self == Color {
    public static var black: Color { fatalError() }
    public static var white: Color { fatalError() }
    public static var primary: Color { fatalError() }
    public static var secondary: Color { fatalError() }
}
public struct Font: Hashable, Sendable {
    public static let title = Font()
    public static let headline = Font()
    public static let body = Font()
    public static let caption = Font()
    public static let footnote = Font()
    public func monospacedDigit() -> Font { fatalError() }
}
public struct Animation: Equatable, Sendable { public static let `default` = Animation() }
public struct ContentTransition: Equatable, Sendable {
    public static func numericText(countsDown: Bool = false) -> ContentTransition { fatalError() }
}
public struct ContainerBackgroundPlacement: Sendable {
    public init(stub: Void) {}
}

// https://developer.apple.com/documentation/swiftui/draggesture
@MainActor @preconcurrency public protocol Gesture<Value> {
    associatedtype Value
}
public struct ChangedGesture<G: Gesture>: Gesture { public typealias Value = G.Value }
extension Gesture {
    public func onEnded(_ action: @escaping (Value) -> Void) -> ChangedGesture<Self> {
        fatalError()
    }
    public func onChanged(_ action: @escaping (Value) -> Void) -> ChangedGesture<Self> {
        fatalError()
    }
}
public enum CoordinateSpace: Sendable { case global, local }
@MainActor @preconcurrency public struct DragGesture: Gesture {
    public struct Value: Equatable, Sendable {
        public var time: Date
        public var location: CGPoint
        public var startLocation: CGPoint
    }
    nonisolated public init(
        minimumDistance: CGFloat = 10, coordinateSpace: CoordinateSpace = .local
    ) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/view/onchange(of:initial:_:)-4psgg
// https://developer.apple.com/documentation/swiftui/view/onchange(of:initial:_:)
// https://developer.apple.com/documentation/swiftui/view/onchange(of:perform:)
nonisolated extension View {
    // https://developer.apple.com/documentation/swiftui/view/position(_:), from memory
    nonisolated public func position(_ position: CGPoint) -> some View { self }
}
extension View {
    @available(iOS 17.0, *)
    public func onChange<V: Equatable>(
        of value: V, initial: Bool = false, _ action: @escaping (V, V) -> Void
    ) -> some View { self }
    @available(iOS 17.0, *)
    public func onChange<V: Equatable>(
        of value: V, initial: Bool = false, _ action: @escaping () -> Void
    ) -> some View { self }
    @available(iOS, introduced: 14.0, deprecated: 17.0)
    public func onChange<V: Equatable>(
        of value: V, perform action: @escaping (V) -> Void
    ) -> some View { self }
    public func onAppear(perform action: (() -> Void)? = nil) -> some View { self }
    @preconcurrency
    public func task(
        priority: TaskPriority = .userInitiated,
        @_inheritActorContext _ action: @escaping @Sendable () async -> Void
    ) -> some View { self }
    public func onOpenURL(perform action: @escaping (URL) -> Void) -> some View { self }
    public func simultaneousGesture<T: Gesture>(_ gesture: T) -> some View { self }
    public func gesture<T: Gesture>(_ gesture: T) -> some View { self }
    public func font(_ font: Font?) -> some View { self }
    public func foregroundStyle<S: ShapeStyle>(_ style: S) -> some View { self }
    public func padding(_ edges: Edge.Set = .all, _ length: CGFloat? = nil) -> some View { self }
    public func padding(_ length: CGFloat) -> some View { self }
    public func frame(
        width: CGFloat? = nil, height: CGFloat? = nil, alignment: Alignment = .center
    ) -> some View { self }
    public func frame(
        maxWidth: CGFloat? = nil, maxHeight: CGFloat? = nil, alignment: Alignment = .center
    ) -> some View { self }
    public func background<S: ShapeStyle>(_ style: S) -> some View { self }
    public func opacity(_ opacity: Double) -> some View { self }
    public func contentTransition(_ transition: ContentTransition) -> some View { self }
    public func animation<V: Equatable>(_ animation: Animation?, value: V) -> some View { self }
    public func privacySensitive(_ sensitive: Bool = true) -> some View { self }
    public func accessibilityLabel<S: StringProtocol>(_ label: S) -> some View { self }
    @available(iOS 17.0, *)
    public func containerBackground<S: ShapeStyle>(
        _ style: S, for container: ContainerBackgroundPlacement
    ) -> some View { self }
    @available(iOS 17.0, *)
    public func containerBackground<V: View>(
        for container: ContainerBackgroundPlacement, @ViewBuilder content: () -> V
    ) -> some View { self }
}

// https://developer.apple.com/documentation/swiftui/widget
// https://developer.apple.com/documentation/swiftui/widgetconfiguration
// https://developer.apple.com/documentation/swiftui/controlwidget
// The bundle, the builders and the configuration of a control: from memory.
@MainActor @preconcurrency public protocol Widget {
    associatedtype Body: WidgetConfiguration
    @MainActor @preconcurrency var body: Self.Body { get }
    @MainActor @preconcurrency init()
}
@MainActor @preconcurrency public protocol WidgetConfiguration {
    associatedtype Body: WidgetConfiguration
    @MainActor @preconcurrency var body: Self.Body { get }
}
extension Never: WidgetConfiguration {}
@MainActor @preconcurrency public protocol WidgetBundle {
    associatedtype Body: Widget
    @WidgetBundleBuilder @MainActor @preconcurrency var body: Self.Body { get }
    @MainActor @preconcurrency init()
}
extension WidgetBundle { @MainActor @preconcurrency public static func main() {} }
@resultBuilder public struct WidgetBundleBuilder {
    public static func buildExpression<C: Widget>(_ content: C) -> some Widget { content }
    @available(iOS 18.0, *)
    public static func buildExpression<C: ControlWidget>(_ content: C) -> some Widget {
        EmptyWidget()
    }
    public static func buildPartialBlock<C: Widget>(first: C) -> some Widget { first }
    public static func buildPartialBlock<A: Widget, B: Widget>(
        accumulated: A, next: B
    ) -> some Widget { accumulated }
    public static func buildOptional(_ widget: (any Widget)?) -> some Widget { EmptyWidget() }
    public static func buildLimitedAvailability<C: Widget>(_ widget: C) -> some Widget { widget }
}
struct EmptyWidget: Widget {
    nonisolated init() {}
    var body: Never { fatalError() }
}
@available(iOS 18.0, *)
@MainActor @preconcurrency public protocol ControlWidget {
    associatedtype Body: ControlWidgetConfiguration
    @MainActor @preconcurrency var body: Self.Body { get }
    @MainActor @preconcurrency init()
}
@available(iOS 18.0, *)
@MainActor @preconcurrency public protocol ControlWidgetConfiguration {
    associatedtype Body: ControlWidgetConfiguration
    @MainActor @preconcurrency var body: Self.Body { get }
}
@available(iOS 18.0, *)
extension Never: ControlWidgetConfiguration {}
