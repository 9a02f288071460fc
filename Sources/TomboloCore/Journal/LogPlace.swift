/// A place in a tenant's part of the log: after which of its events, and after which of its facts.
///
/// Both are counted from 1, separately; 0 is before the first.
package struct LogPlace: Hashable, Sendable {
    package var command: Int64
    package var fact: Int64

    /// The place after that command and that fact.
    package init(command: Int64 = 0, fact: Int64 = 0) {
        (self.command, self.fact) = (command, fact)
    }

    /// The place before the first event and fact.
    package static let none = LogPlace()
}
