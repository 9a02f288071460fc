/// What a ticket gets, once: after it is durable where something was stored, at once where nothing
/// was.
package enum Answer: Sendable {
    case accepted(Accepted)
    /// One for each command of `atomic` or each activity ended by `endMany`.
    case acceptedAll([Accepted])
    /// The idempotency key was there: the answer is that of this event, after its key was compared
    /// in full.
    case replay(seq: Int64)
    /// The same of each line of an atomic batch that was sent again.
    case replayAll(seqs: [Int64])
    /// Some lines of an atomic batch are on record, by their indices, and some are not.
    case partlyThere(there: [Int], missing: [Int])
    case refused(Refusal)
    /// `index` of the command of an atomic batch that spoiled it.
    case refusedBatch(index: Int, Refusal)
    /// A device or token or key is stored.
    case stored(Stored)
}

/// What became of a command that was taken.
package struct Accepted: Sendable {
    package var activity: Identifier
    /// Its event's place in the log; no answer tells it.
    package var seq: Int64
    /// Its event's place among those of the tenant.
    package var tenantSeq: Int64
    /// The tenant's newest fact before anything that the event brought about.
    package var factSeq: Int64
    package var version: Int64
    package var status: ActivityStatus
    package var kind: EventKind
    /// False where the activity stood so already, and nothing was stored.
    package var changed: Bool
    /// The grant of the slowest destination.
    package var grant: GrantInForce?
    /// What the slowest destination does with it.
    package var decision: Decision?
    package var destinations: DestinationCounts
    /// The clip that a play began.
    package var clip: String?
    package var plan: ClipPlan?
    /// What was seen coming.
    package var lint: [Lint] = []
}

/// To how many destinations the newest version went, to how many it goes now, how many wait, and
/// how many will never get it: their card is gone, or was never begun.
package struct DestinationCounts: Hashable, Sendable {
    package var sent = 0
    package var sending = 0
    package var deferred = 0
    package var skipped = 0

    package static let none = DestinationCounts()
    package var total: Int { sent + sending + deferred + skipped }

    /// One more, where the version has not gone yet.
    package mutating func add(_ waiting: Decision) {
        if waiting.forProducer == .sending { sending += 1 } else { deferred += 1 }
    }
}

/// Whether an activity reaches anybody.
package enum ActivityStatus: UInt8, Hashable, Sendable, CaseIterable {
    case waiting, active, ended
    /// Set aside: its newest state is not known.
    case damaged

    package var name: String {
        switch self {
        case .waiting: "waiting"
        case .active: "active"
        case .ended: "ended"
        case .damaged: "damaged"
        }
    }
}
