/// The only answer to a ticket: after its data is durable, or at once if nothing was stored.
package enum Answer: Sendable {
    case accepted(Accepted)
    /// One for each command of `atomic`, or for each activity that `endMany` ended.
    case acceptedAll([Accepted])
    /// The idempotency key is known: the answer of this event is repeated, after a comparison of
    /// the full key.
    case replay(seq: Int64)
    /// The same for each line of a repeated atomic batch.
    case replayAll(seqs: [Int64])
    /// Some lines of an atomic batch are stored already and others are not, by their indices.
    case partlyThere(there: [Int], missing: [Int])
    case refused(Refusal)
    /// `index` of the command that made an atomic batch fail.
    case refusedBatch(index: Int, Refusal)
    /// A device, token or key is stored.
    case stored(Stored)
}

/// The result of an accepted command.
package struct Accepted: Sendable {
    package var activity: Identifier
    /// The event's place in the log; not part of any answer.
    package var seq: Int64
    /// The event's place among those of the tenant.
    package var tenantSeq: Int64
    /// The tenant's newest fact before the facts that the event caused.
    package var factSeq: Int64
    package var version: Int64
    package var status: ActivityStatus
    package var kind: EventKind
    /// False if the activity already had this state, and nothing was stored.
    package var changed: Bool
    /// The grant of the slowest destination.
    package var grant: GrantInForce?
    /// The slowest destination's decision about the version.
    package var decision: Decision?
    package var destinations: DestinationCounts
    /// The clip that a play started.
    package var clip: String?
    package var plan: ClipPlan?
    /// Warnings about the command.
    package var lint: [Lint] = []
}

/// Destinations by their state of the newest version: sent, being sent now, waiting, or never to be
/// sent, because the card is gone or was never begun.
package struct DestinationCounts: Hashable, Sendable {
    package var sent = 0
    package var sending = 0
    package var deferred = 0
    package var skipped = 0

    package static let none = DestinationCounts()
    package var total: Int { sent + sending + deferred + skipped }

    /// Counts one destination to which the version has not been sent.
    package mutating func add(_ waiting: Decision) {
        if waiting.forProducer == .sending { sending += 1 } else { deferred += 1 }
    }
}

/// The public status of an activity.
package enum ActivityStatus: UInt8, Hashable, Sendable, CaseIterable {
    case waiting, active, ended
    /// Set aside, because its newest state is unknown.
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
