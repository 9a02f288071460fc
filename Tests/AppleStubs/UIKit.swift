@_exported public import Foundation

// Read: what a line in brackets names, and `didBecomeActiveNotification`. Else from memory.

// https://developer.apple.com/documentation/uikit/uiresponder (from memory, page not read)
@MainActor open class UIResponder: NSObject {}

// https://developer.apple.com/documentation/uikit/uiapplication
// (its `shared` and `beginBackgroundTask(expirationHandler:)` were read)
@MainActor open class UIApplication: UIResponder {
    public enum State: Int, Sendable { case active, inactive, background }
    public struct LaunchOptionsKey: Hashable, Sendable, _ObjectiveCBridgeable, ObjectBridged {
        public typealias _ObjectiveCType = NSString
    }
    @available(
        iOSApplicationExtension, unavailable,
        message: "Use view controller based solutions where appropriate instead."
    )
    open class var shared: UIApplication { fatalError() }
    open var applicationState: UIApplication.State { fatalError() }
    open var isProtectedDataAvailable: Bool { fatalError() }
    nonisolated public func beginBackgroundTask(
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { fatalError() }
    nonisolated public func beginBackgroundTask(
        withName taskName: String?,
        expirationHandler handler: (@MainActor @Sendable () -> Void)? = nil
    ) -> UIBackgroundTaskIdentifier { fatalError() }
    nonisolated public func endBackgroundTask(_ identifier: UIBackgroundTaskIdentifier) {}
    nonisolated public class var didBecomeActiveNotification: Notification.Name { fatalError() }
    nonisolated public class var willResignActiveNotification: Notification.Name { fatalError() }
    nonisolated public class var didEnterBackgroundNotification: Notification.Name { fatalError() }
    nonisolated public class var willEnterForegroundNotification: Notification.Name {
        fatalError()
    }
    nonisolated public class var protectedDataDidBecomeAvailableNotification: Notification.Name {
        fatalError()
    }
}
public struct UIBackgroundTaskIdentifier: Hashable, Sendable {
    public static let invalid = UIBackgroundTaskIdentifier()
}

// https://developer.apple.com/documentation/uikit/uiapplicationdelegate
// (its method for background sessions was read)
@MainActor @objc public protocol UIApplicationDelegate: NSObjectProtocol {
    @objc optional func application(
        _ application: UIApplication,
        didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]?
    ) -> Bool
    @objc optional func application(
        _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
        completionHandler: @escaping () -> Void)
}

// https://developer.apple.com/documentation/uikit/uidevice (from memory, page not read)
@MainActor open class UIDevice: NSObject {
    open class var current: UIDevice { fatalError() }
    open var systemVersion: String { fatalError() }
    open var systemName: String { fatalError() }
    open var model: String { fatalError() }
}

// https://developer.apple.com/documentation/uikit/uiimage (from memory, page not read)
open class UIImage: NSObject, @unchecked Sendable {
    public init?(data: Data) { fatalError() }
    public convenience init?(named name: String) { fatalError() }
}
