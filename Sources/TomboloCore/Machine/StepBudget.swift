/// What one step may still do to populations: whatever loops over one takes from here, and what is
/// left over goes on in the next step.
///
/// The core cannot measure time, so it counts work, in units of about 0.1 µs on a machine that
/// reads 1 MiB of JSON in 6.5 ms. Each kind of work has a part of its own, so that it always gets
/// on.
package struct StepBudget: Sendable {
    /// The work of each kind, in units.
    enum Cost {
        /// Passes a slot, an entry or a row that needs nothing.
        static let place = 1
        /// Corrects a card and its row.
        static let row = 30
        /// Examines a card or a surface.
        static let look = 50
        /// Lets a card, or an activity besides its cards, leave memory.
        static let leave = 40
    }

    /// One part. The work that uses it up is done whole, so that each step gets on.
    package struct Part: Sendable {
        package let units: Int
        package private(set) var used = 0

        init(_ units: Int) { self.units = units }

        package var isSpent: Bool { used >= units }

        mutating func take(_ units: Int) { used += units }
    }

    /// What waits at upstreams.
    package internal(set) var turns = Part(50_000)
    /// What is due.
    package internal(set) var due = Part(50_000)
    /// What a sweep does to all slots of a table.
    package internal(set) var sweep = Part(20_000)
    /// Ended activities that leave memory in time.
    package internal(set) var retirement = Part(20_000)
    /// Ended activities that leave memory early, because a start or a device needs their room.
    package internal(set) var room = Part(50_000)

    init() {}
}
