public import Dispatch

// https://developer.apple.com/documentation/network/nwpath
// From memory, page not read.
public struct NWPath: Equatable, Sendable {
    public enum Status: Equatable, Sendable {
        case satisfied, unsatisfied, requiresConnection
    }
    public let status: NWPath.Status
    public let isExpensive: Bool
    public let isConstrained: Bool
}

// https://developer.apple.com/documentation/network/nwpathmonitor
// https://developer.apple.com/documentation/network/nwpathmonitor/pathupdatehandler
// https://developer.apple.com/documentation/network/nwpathmonitor/iterator
// Only the beginning of the page was read, and it names no Sendable.
public final class NWPathMonitor {
    public init() { fatalError() }
    @preconcurrency public final var pathUpdateHandler: (@Sendable (NWPath) -> Void)?
    public final var currentPath: NWPath { fatalError() }
    public final func start(queue: DispatchQueue) { fatalError() }
    public final func cancel() { fatalError() }
}
@available(iOS 17.0, *)
extension NWPathMonitor: AsyncSequence {
    public typealias Element = NWPath
    public struct Iterator: AsyncIteratorProtocol {
        public mutating func next() async -> NWPath? { fatalError() }
    }
    public func makeAsyncIterator() -> Iterator { fatalError() }
}
