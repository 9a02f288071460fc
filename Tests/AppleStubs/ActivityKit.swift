public import Foundation

// Apple's pages name iOS and iPadOS only, so nothing here can be used on Mac Catalyst.

// https://developer.apple.com/documentation/activitykit/activityattributes
// https://developer.apple.com/documentation/activitykit/activityattributes/contentstate
// Neither is Sendable, so generic code that hands its type to a task needs SendableMetatype.
@available(iOS 16.1, *)
@available(macCatalyst, unavailable)
public protocol ActivityAttributes: Decodable, Encodable {
    associatedtype ContentState: Decodable, Encodable, Hashable
}

// https://developer.apple.com/documentation/activitykit/activity
// The page names no Sendable. Apps add `@unchecked @retroactive Sendable` themselves.
@available(iOS 16.1, *)
@available(macCatalyst, unavailable)
public class Activity<Attributes>: Identifiable where Attributes: ActivityAttributes {
    init() { fatalError() }
    public typealias ContentState = Attributes.ContentState
    public final let id: String
    public final let attributes: Attributes
    @available(iOS 16.2, *)
    public var content: ActivityContent<Activity<Attributes>.ContentState> { fatalError() }
    @available(iOS, introduced: 16.1, deprecated: 16.2)
    public var contentState: Activity<Attributes>.ContentState { fatalError() }
    public var activityState: ActivityState { fatalError() }
    public var pushToken: Data? { fatalError() }
    public static var activities: [Activity<Attributes>] { fatalError() }
    @available(iOS 17.2, *)
    public static var pushToStartToken: Data? { fatalError() }

    // https://developer.apple.com/documentation/activitykit/activity and below it
    // the page of each `request`.
    @available(iOS 16.2, *)
    public static func request(
        attributes: Attributes, content: ActivityContent<Activity<Attributes>.ContentState>,
        pushType: PushType? = nil
    ) throws -> Activity<Attributes> { fatalError() }
    @available(iOS 18.0, *)
    public static func request(
        attributes: Attributes, content: ActivityContent<Activity<Attributes>.ContentState>,
        pushType: PushType? = nil, style: ActivityStyle
    ) throws -> Activity<Attributes> { fatalError() }
    @available(iOS 26.0, *)
    public static func request(
        attributes: Attributes, content: ActivityContent<Activity<Attributes>.ContentState>,
        pushType: PushType? = nil, style: ActivityStyle, alertConfiguration: AlertConfiguration,
        start: Date
    ) throws -> Activity<Attributes> { fatalError() }
    @available(iOS, introduced: 16.1, deprecated: 16.2)
    public static func request(
        attributes: Attributes, contentState: Activity<Attributes>.ContentState,
        pushType: PushType? = nil
    ) throws -> Activity<Attributes> { fatalError() }

    // https://developer.apple.com/documentation/activitykit/activity/update(_:)
    @available(iOS 16.2, *)
    public func update(_ content: ActivityContent<Activity<Attributes>.ContentState>) async {}
    @available(iOS 16.2, *)
    public func update(
        _ content: ActivityContent<Activity<Attributes>.ContentState>,
        alertConfiguration: AlertConfiguration? = nil
    ) async {}
    @available(iOS 17.2, *)
    public func update(
        _ content: ActivityContent<Activity<Attributes>.ContentState>,
        alertConfiguration: AlertConfiguration? = nil, timestamp: Date
    ) async {}
    @available(iOS, introduced: 16.1, deprecated: 16.2)
    public func update(using contentState: Activity<Attributes>.ContentState) async {}

    // https://developer.apple.com/documentation/activitykit/activity/end(_:dismissalpolicy:)
    @available(iOS 16.2, *)
    public func end(
        _ content: ActivityContent<Activity<Attributes>.ContentState>?,
        dismissalPolicy: ActivityUIDismissalPolicy = .default
    ) async {}
    @available(iOS 17.2, *)
    public func end(
        _ content: ActivityContent<Activity<Attributes>.ContentState>?,
        dismissalPolicy: ActivityUIDismissalPolicy = .default, timestamp: Date
    ) async {}
    @available(iOS, introduced: 16.1, deprecated: 16.2)
    public func end(
        using contentState: Activity<Attributes>.ContentState? = nil,
        dismissalPolicy: ActivityUIDismissalPolicy = .default
    ) async {}

    // https://developer.apple.com/documentation/activitykit/activity/activityupdates-swift.struct
    // These sequences are AsyncSequence only, not Sendable.
    public struct ActivityUpdates: AsyncSequence {
        public typealias Element = Activity<Attributes>
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Activity<Attributes>? { fatalError() }
        }
        public func makeAsyncIterator() -> Iterator { fatalError() }
    }
    public struct ActivityStateUpdates: AsyncSequence {
        public typealias Element = ActivityState
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> ActivityState? { fatalError() }
        }
        public func makeAsyncIterator() -> Iterator { fatalError() }
    }
    public struct PushTokenUpdates: AsyncSequence {
        public typealias Element = Data
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Data? { fatalError() }
        }
        public func makeAsyncIterator() -> Iterator { fatalError() }
    }
    @available(iOS 16.2, *)
    public struct ContentUpdates: AsyncSequence {
        public typealias Element = ActivityContent<Activity<Attributes>.ContentState>
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Element? { fatalError() }
        }
        public func makeAsyncIterator() -> Iterator { fatalError() }
    }
    public static var activityUpdates: Activity<Attributes>.ActivityUpdates { fatalError() }
    public var activityStateUpdates: Activity<Attributes>.ActivityStateUpdates { fatalError() }
    public var pushTokenUpdates: Activity<Attributes>.PushTokenUpdates { fatalError() }
    @available(iOS 16.2, *)
    public var contentUpdates: Activity<Attributes>.ContentUpdates { fatalError() }
    @available(iOS 17.2, *)
    public static var pushToStartTokenUpdates: Activity<Attributes>.PushTokenUpdates {
        fatalError()
    }
}

// https://developer.apple.com/documentation/activitykit/activitycontent
// The page names Sendable; that State must be, too, is the stricter reading.
@available(iOS 16.2, *)
@available(macCatalyst, unavailable)
public struct ActivityContent<State> where State: Decodable, State: Encodable, State: Hashable {
    public let state: State
    public let staleDate: Date?
    public let relevanceScore: Double
    public init(state: State, staleDate: Date?, relevanceScore: Double = 0.0) { fatalError() }
}
@available(iOS 16.2, *)
@available(macCatalyst, unavailable)
extension ActivityContent: Sendable where State: Sendable {}

// https://developer.apple.com/documentation/activitykit/activitystate
// The page names SendableMetatype, which is beside Sendable on all of Apple's pages.
@available(iOS 16.1, *)
@available(macCatalyst, unavailable)
public enum ActivityState: Encodable, Sendable {
    case active, ended, dismissed
    @available(iOS 16.2, *) case stale
    @available(iOS 26.0, *) case pending
}

// https://developer.apple.com/documentation/activitykit/activitystyle
@available(iOS 16.1, *)
@available(macCatalyst, unavailable)
public enum ActivityStyle: Hashable {
    case standard, transient
}

// https://developer.apple.com/documentation/activitykit/pushtype
// https://developer.apple.com/documentation/activitykit/pushtype/channel(_:)
@available(iOS 16.1, *)
@available(macCatalyst, unavailable)
public struct PushType {
    public static var token: PushType { fatalError() }
    @available(iOS 18.0, *)
    public static func channel(_ name: String) -> PushType { fatalError() }
}

// https://developer.apple.com/documentation/activitykit/activityuidismissalpolicy
// Swift 6 lets a stub have no `static let` of a type that is not Sendable.
@available(iOS 16.1, *)
@available(macCatalyst, unavailable)
public struct ActivityUIDismissalPolicy {
    public static var `default`: ActivityUIDismissalPolicy { fatalError() }
    public static var immediate: ActivityUIDismissalPolicy { fatalError() }
    public static func after(_ date: Date) -> ActivityUIDismissalPolicy { fatalError() }
}

// https://developer.apple.com/documentation/activitykit/alertconfiguration
@available(iOS 16.1, *)
@available(macCatalyst, unavailable)
public struct AlertConfiguration {
    public struct AlertSound: Sendable, Equatable {
        public static var `default`: AlertConfiguration.AlertSound { fatalError() }
        public static func named(_ name: String) -> AlertConfiguration.AlertSound { fatalError() }
    }
    public var title: LocalizedStringResource
    public var body: LocalizedStringResource
    public var sound: AlertConfiguration.AlertSound
    public init(
        title: LocalizedStringResource, body: LocalizedStringResource,
        sound: AlertConfiguration.AlertSound
    ) { fatalError() }
}

// https://developer.apple.com/documentation/activitykit/activityauthorizationinfo
@available(iOS 16.1, *)
@available(macCatalyst, unavailable)
public final class ActivityAuthorizationInfo {
    public init() { fatalError() }
    public final var areActivitiesEnabled: Bool { fatalError() }
    public final let activityEnablementUpdates: ActivityEnablementUpdates
    @available(iOS 16.2, *)
    public final var frequentPushesEnabled: Bool { fatalError() }
    @available(iOS 16.2, *)
    public final var frequentPushEnablementUpdates: FrequentPushEnablementUpdates { fatalError() }
    public struct ActivityEnablementUpdates: AsyncSequence {
        public typealias Element = Bool
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Bool? { fatalError() }
        }
        public func makeAsyncIterator() -> Iterator { fatalError() }
    }
    @available(iOS 16.2, *)
    public struct FrequentPushEnablementUpdates: AsyncSequence {
        public typealias Element = Bool
        public struct Iterator: AsyncIteratorProtocol {
            public mutating func next() async -> Bool? { fatalError() }
        }
        public func makeAsyncIterator() -> Iterator { fatalError() }
    }
}

// https://developer.apple.com/documentation/activitykit/activityauthorizationerror
// The last five cases: from memory, only the beginning of the page was read.
@available(iOS 16.1, *)
@available(macCatalyst, unavailable)
public enum ActivityAuthorizationError: Error {
    case attributesTooLarge, denied, globalMaximumExceeded, malformedActivityIdentifier
    case missingProcessIdentifier, persistenceFailure, unentitled
    case reconnectNotPermitted, targetMaximumExceeded, unsupported, unsupportedTarget, visibility
    public static var errorDomain: String { fatalError() }
    public var errorCode: Int { fatalError() }
    public var failureReason: String? { fatalError() }
    public var recoverySuggestion: String? { fatalError() }
}
