/// A place in a tenant's part of the log: after how many of its events, and of its facts.
///
/// Both numbers count from 1; 0 is before the first one.
package struct LogPlace: Hashable, Sendable {
    package var command: Int64
    package var fact: Int64

    /// The place after these numbers of events and facts.
    package init(command: Int64 = 0, fact: Int64 = 0) {
        (self.command, self.fact) = (command, fact)
    }

    package static let none = LogPlace()
}
