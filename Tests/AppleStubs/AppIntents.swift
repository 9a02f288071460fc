public import Foundation
public import SwiftUI

// https://developer.apple.com/documentation/appintents/appintent
// https://developer.apple.com/documentation/appintents/appintent/perform()
// https://developer.apple.com/documentation/appintents/appintent/openappwhenrun
// https://developer.apple.com/documentation/appintents/appintent/supportedmodes
// The members were read, the protocol's own page was not.
public protocol PersistentlyIdentifiable {}
public protocol AppIntent: PersistentlyIdentifiable, Sendable {
    associatedtype PerformResult: IntentResult
    static var title: LocalizedStringResource { get }
    static var isDiscoverable: Bool { get }
    @available(iOS, introduced: 16.0, deprecated: 26.0)
    static var openAppWhenRun: Bool { get }
    @available(iOS 26.0, *)
    static var supportedModes: IntentModes { get }
    func perform() async throws -> Self.PerformResult
    init()
}
extension AppIntent {
    public typealias Parameter = IntentParameter
    public static var isDiscoverable: Bool { fatalError() }
    @available(iOS, introduced: 16.0, deprecated: 26.0)
    public static var openAppWhenRun: Bool { fatalError() }
    @available(iOS 26.0, *)
    public static var supportedModes: IntentModes { fatalError() }
}
// https://developer.apple.com/documentation/appintents/intentmodes
@available(iOS 26.0, *)
public struct IntentModes: OptionSet, Sendable {
    public let rawValue: Int
    public init(rawValue: Int) { fatalError() }
    public static let background = IntentModes(rawValue: 1)
    public static let foreground = IntentModes(rawValue: 2)
}

// https://developer.apple.com/documentation/appintents/liveactivityintent
// https://developer.apple.com/documentation/appintents/setvalueintent
// WidgetConfigurationIntent and ControlConfigurationIntent: from memory, pages not read.
public protocol SystemIntent: AppIntent {}
@available(iOS 17.0, *)
public protocol LiveActivityIntent: SystemIntent {}
@available(iOS 17.0, *)
public protocol WidgetConfigurationIntent: SystemIntent {}
@available(iOS 17.0, *)
extension WidgetConfigurationIntent {
    public func perform() async throws -> some IntentResult { NoResult() }
}
@available(iOS 18.0, *)
public protocol ControlConfigurationIntent: SystemIntent {}
@available(iOS 18.0, *)
extension ControlConfigurationIntent {
    public func perform() async throws -> some IntentResult { NoResult() }
}
@available(iOS 18.0, *)
public protocol SetValueIntent<ValueType>: AppIntent {
    associatedtype ValueType: _IntentValue
    var value: Self.ValueType { get set }
}

// https://developer.apple.com/documentation/appintents/intentresult/intentresult-implementations
// `result()` and the container's four parameters, without its members.
public protocol IntentResult: Sendable {}
public struct IntentResultContainer<Value, OpensAppIntent, SnippetView, Dialog>: IntentResult {}
struct NoResult: IntentResult {}
extension IntentResult {
    public static func result() -> Self
    where Self == IntentResultContainer<Never, Never, Never, Never> { fatalError() }
}

// https://developer.apple.com/documentation/appintents/intentparameter
// https://developer.apple.com/documentation/appintents/anyintentvalue (names it Sendable)
// One initializer for Apple's many: its labels and defaults are those that they share.
public protocol _IntentValue { associatedtype UnwrappedType = Self }
extension String: _IntentValue {}
extension Int: _IntentValue {}
extension Double: _IntentValue {}
extension Bool: _IntentValue {}
extension Date: _IntentValue {}
extension URL: _IntentValue {}
extension Optional: _IntentValue where Wrapped: _IntentValue {
    public typealias UnwrappedType = Wrapped
}
extension Array: _IntentValue where Element: _IntentValue {}
public enum InputConnectionBehavior: Sendable { case `default`, never }
public struct IntentDialog: ExpressibleByStringInterpolation, Sendable {
    public init(stringLiteral value: String) { fatalError() }
}
@propertyWrapper
public final class IntentParameter<Value>: @unchecked Sendable
where Value: _IntentValue, Value: Sendable {
    public init(
        title: LocalizedStringResource, description: LocalizedStringResource? = nil,
        default defaultValue: Value.UnwrappedType? = nil,
        requestValueDialog: IntentDialog? = nil,
        inputConnectionBehavior: InputConnectionBehavior = .default
    ) { fatalError() }
    public final var wrappedValue: Value
}

// https://developer.apple.com/documentation/appintents/appentity
// https://developer.apple.com/documentation/appintents/appvalue
// https://developer.apple.com/documentation/appintents/entityquery
// The members are from memory.
public protocol AppEntity: PersistentlyIdentifiable, _IntentValue, Identifiable, Sendable
where ID: Sendable {
    associatedtype DefaultQuery: EntityQuery where DefaultQuery.Entity == Self
    static var defaultQuery: Self.DefaultQuery { get }
    static var typeDisplayRepresentation: TypeDisplayRepresentation { get }
    var displayRepresentation: DisplayRepresentation { get }
}
public protocol DynamicOptionsProvider {
    associatedtype Result
    func results() async throws -> Self.Result
}
public protocol EntityQuery: DynamicOptionsProvider, PersistentlyIdentifiable, Sendable {
    associatedtype Entity: AppEntity
    associatedtype Result = [Self.Entity]
    init()
    func entities(for identifiers: [Self.Entity.ID]) async throws -> [Self.Entity]
    func suggestedEntities() async throws -> Self.Result
}
extension EntityQuery { public func results() async throws -> Result { fatalError() } }
extension EntityQuery where Result == [Entity] {
    public func suggestedEntities() async throws -> [Entity] { fatalError() }
}
public struct TypeDisplayRepresentation: ExpressibleByStringInterpolation, Sendable {
    public init(stringLiteral value: String) { fatalError() }
}
public struct DisplayRepresentation: ExpressibleByStringInterpolation, Sendable {
    public init(stringLiteral value: String) { fatalError() }
    public init(title: LocalizedStringResource) { fatalError() }
}

// https://developer.apple.com/documentation/swiftui/button/init(intent:label:)
// Apple's is visible where a file imports both SwiftUI and AppIntents, and so is this one.
@available(iOS 17.0, *)
extension Button {
    nonisolated public init<I>(intent: I, @ViewBuilder label: () -> Label) where I: AppIntent {
        fatalError()
    }
}
