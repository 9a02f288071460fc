package import TomboloJSON

/// An activity as the API shows it: its durable state at one instant.
package struct ActivityView: Sendable {
    package var key: ActivityKey
    package var number: ActivityNumber
    package var incarnation: Int64
    package var type: String
    package var app: String
    package var status: ActivityStatus
    package var version: Int64
    /// Place of the newest event: `seq` in the log (no answer shows it), `tenantSeq` in its tenant.
    package var seq: Int64
    package var tenantSeq: Int64
    /// The state at that instant, with the clip's frame.
    package var state: JSON
    package var relevance: Double?
    package var staleAt: Instant?
    package var clip: ClipView?
    package var destinations: [DestinationView]
    /// Wall time of its start, of its newest change, and of its end. Nil if it is unknown, or for a
    /// time in the past.
    package var startedAt: Instant?
    package var changedAt: Instant?
    package var endedAt: Instant?
    /// The time in the past that is shown; nil: now.
    package var asOf: Instant?
    /// Why the activity was set aside; its state is unknown then. Nil if it was not.
    package var damage: String?
}

/// One destination of an activity, as the API shows it.
package struct DestinationView: Sendable {
    package var recipient: Recipient
    package var grant: GrantInForce
    /// `push_to_start`, `update_token` or `channel`; nil if pushes cannot reach it now.
    package var route: String?
    package var acknowledgedVersion: Int64
    /// The name of its `Destination.Phase`.
    package var phase: String
    package var lastDelivery: DeliveryView?
    /// What is known about the token that it needs; nil if it needs none.
    package var token: TokenStanding?
    package var waiting: Decision?
    /// Why the app's upstream is closed; nil if it is open.
    package var trouble: String?
    /// How long Apple has not answered pushes of the app; nil if not for long.
    package var silence: Span?
    package var frames: FrameCounts
    package var shown: PhoneReport?
    /// True if the state in the phone's report is the projected one; nil if no report has a state.
    package var shownMatches: Bool?
    /// The number of its card, as in `DeliveryRecord`. Answers do not show it.
    package var card: Int64 = 0
    /// The first version that it was asked to show.
    package var since: Int64 = 1
    /// False if it only ends a card, and shows no later versions.
    package var follows = true
}

/// Counters for `/metrics`. They start at 0 with each process.
package struct CoreCounters: Hashable, Sendable {
    package var eventsAccepted: Int64 = 0
    package var commandsRefused: Int64 = 0
    package var pushesSent: Int64 = 0
    package var pushesAccepted: Int64 = 0
    package var pushesRejected: Int64 = 0
    package var pushesNotSent: Int64 = 0
    package var pushesUnknown: Int64 = 0
    package var framesSent: Int64 = 0
    /// Decisions without a push of their own, since the relay started.
    package var decided = EventCounts()
    /// Cards whose start was never sent, by what held it, since the relay started.
    package var neverBegan: [WaitReason: Int64] = [:]
    /// The newest of them.
    package internal(set) var lastNeverBegan: NeverBegan?
    package var activitiesLive = 0
    package var destinations = 0
    package var devices = 0
    package var deadLetters = 0
    package var pauses = 0

    /// Forgets the newest card that never began if an erasure asks for it.
    mutating func forgetLastNeverBegan(where isGone: (NeverBegan) -> Bool) {
        if lastNeverBegan.map(isGone) == true { lastNeverBegan = nil }
    }
}

/// A card whose start was never sent.
package struct NeverBegan: Hashable, Sendable {
    package var activity: Identifier
    package var device: Identifier
    package var reason: WaitReason
    package var at: Instant
}

extension ActivityView {
    /// The view of an activity that was set aside because of damage.
    init(_ damaged: ActivityTable.SetAside) {
        let (activity, traits) = (damaged.activity, damaged.traits)
        self.init(
            key: traits.key, number: activity.number, incarnation: max(1, traits.incarnation),
            type: traits.type, app: traits.app, status: .damaged, version: activity.version,
            seq: activity.seq, tenantSeq: activity.tenantSeq, state: .emptyObject, relevance: nil,
            staleAt: nil, clip: nil, destinations: [], damage: activity.reason)
    }
}
