/// Identifies a request inside the relay, so that its answer finds the waiting client.
package struct Ticket: Hashable, Sendable {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}
