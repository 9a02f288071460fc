/// A place in a tenant's part of the log: behind which of its events, and behind which of its
/// facts.
///
/// Both are counted from 1, each by itself; 0 is before the first.
package struct LogPlace: Hashable, Sendable {
    package var command: Int64
    package var fact: Int64

    /// Behind that command and that fact.
    package init(command: Int64 = 0, fact: Int64 = 0) {
        (self.command, self.fact) = (command, fact)
    }

    /// Before everything.
    package static let none = LogPlace()
}
