/// Whom an answer belongs to; the shell knows.
package struct Ticket: Hashable, Sendable {
    package let rawValue: UInt64
    package init(_ rawValue: UInt64) { self.rawValue = rawValue }
}
