@_exported import ObjectiveC

// https://developer.apple.com/documentation/dispatch/dispatchqueue (from memory, page not read)
// A work item that this code hands over is Sendable, as in the interface of the open Dispatch.
open class DispatchQueue: NSObject, @unchecked Sendable {
    public class var main: DispatchQueue { fatalError() }
    public class func global(qos: DispatchQoS.QoSClass = .default) -> DispatchQueue { fatalError() }
    public convenience init(label: String, qos: DispatchQoS = .unspecified) { fatalError() }
    @preconcurrency
    public func async(execute work: @escaping @Sendable @convention(block) () -> Void) {
        fatalError()
    }
    @preconcurrency
    public func asyncAfter(
        deadline: DispatchTime, execute work: @escaping @Sendable @convention(block) () -> Void
    ) { fatalError() }
    public func sync<T>(execute work: () throws -> T) rethrows -> T { fatalError() }
}

// https://developer.apple.com/documentation/dispatch/dispatchqos (from memory, page not read)
public struct DispatchQoS: Equatable, Sendable {
    public enum QoSClass: Sendable {
        case background, utility, `default`, userInitiated, userInteractive, unspecified
    }
    public static let background = DispatchQoS()
    public static let utility = DispatchQoS()
    public static let userInitiated = DispatchQoS()
    public static let unspecified = DispatchQoS()
}

// https://developer.apple.com/documentation/dispatch/dispatchtime (from memory, page not read)
public struct DispatchTime: Comparable, Sendable {
    public static func now() -> DispatchTime { fatalError() }
    public static func < (a: DispatchTime, b: DispatchTime) -> Bool { fatalError() }
}
public func + (time: DispatchTime, seconds: Double) -> DispatchTime { fatalError() }

// https://developer.apple.com/documentation/dispatch/dispatchsemaphore
// https://developer.apple.com/documentation/dispatch/dispatchsemaphore/wait(timeout:)
public enum DispatchTimeoutResult: Sendable { case success, timedOut }
open class DispatchSemaphore: NSObject, @unchecked Sendable {
    public init(value: Int) { fatalError() }
    @discardableResult public func signal() -> Int { fatalError() }
    @available(*, noasync)
    public func wait() {}
    @available(*, noasync)
    public func wait(timeout: DispatchTime) -> DispatchTimeoutResult { fatalError() }
}
