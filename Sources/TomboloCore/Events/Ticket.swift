/// Identifies a request, so that the shell can route its answer.
package struct Ticket: Hashable, Sendable {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}
