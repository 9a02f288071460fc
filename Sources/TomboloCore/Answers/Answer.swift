/// The one answer to a ticket, sent when its data is durable, or at once if nothing was stored.
package enum Answer: Sendable {
    case accepted(Accepted)
    /// One result for each command of `atomic`, or for each activity that `endMany` ended.
    case acceptedAll([Accepted])
    /// The event at `seq` probably had this idempotency key. If a comparison of the full keys
    /// confirms this, the answer to that event is repeated.
    case replay(seq: Int64)
    /// The same for a repeated atomic batch, with one event for each line.
    case replayAll(seqs: [Int64])
    /// Only a part of an atomic batch is stored already: indices of stored and of missing lines.
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
    /// The event's place in the log. No answer shows it.
    package var seq: Int64
    /// The event's place among the events of the tenant.
    package var tenantSeq: Int64
    /// Number of the tenant's newest fact before the event. Facts that the event causes come later.
    package var factSeq: Int64
    package var version: Int64
    package var status: ActivityStatus
    package var kind: EventKind
    /// False if the activity already had this state, and nothing was stored.
    package var changed: Bool
    package var grant: GrantInForce?
    /// The slowest destination's decision about the version.
    package var decision: Decision?
    /// Why that destination's upstream is closed; nil if it is open.
    package var trouble: String?
    package var destinations: DestinationCounts
    /// The clip that a play started.
    package var clip: String?
    package var plan: ClipPlan?
    package var lint: [Lint] = []
}

/// How many destinations have got the newest version, are getting it now, wait for it, or never get
/// it (because the card is gone or was never begun).
package struct DestinationCounts: Hashable, Sendable {
    package var sent = 0
    package var sending = 0
    package var deferred = 0
    package var skipped = 0
    /// Phones that get the version by the activity's channel, which is a destination itself.
    package var byChannel = 0

    package static let none = DestinationCounts()
    package var total: Int { sent + sending + deferred + skipped + byChannel }

    /// Counts a destination that has not got the version, as `sending` or as `deferred`.
    package mutating func add(_ waiting: Decision) {
        if waiting.forProducer == .sending { sending += 1 } else { deferred += 1 }
    }
}

/// The public status of an activity.
package enum ActivityStatus: String, Named, Sendable, CaseIterable {
    case waiting, active, ended
    /// Set aside, because its newest state is unknown.
    case damaged
}
