package import TomboloJSON

/// An activity as readers see it: what is durable, at one instant.
package struct ActivityView: Sendable {
    package var key: ActivityKey
    package var number: ActivityNumber
    package var incarnation: Int64
    package var type: String
    package var app: String
    package var status: ActivityStatus
    package var version: Int64
    /// Of its newest event: in the log, which no answer tells, and among those of its tenant.
    package var seq: Int64
    package var tenantSeq: Int64
    /// With its clip sampled at that instant by the producer's clock.
    package var state: JSON
    package var relevance: Double?
    package var staleAt: Instant?
    package var clip: ClipView?
    package var destinations: [DestinationView]
    /// The moment of the past that it shows; nil for now.
    package var asOf: Instant?
    /// Why it was set aside, where it was: its state is not known then.
    package var damage: String?
}

/// What is sent to one device, and what is known of it.
package struct DestinationView: Sendable {
    package var recipient: Recipient
    package var grant: GrantInForce
    /// `push_to_start`, `update_token`, `channel`, or nil while there is no way.
    package var route: String?
    package var acknowledgedVersion: Int64
    /// Where it stands: `starting`, `waiting`, `live`, `ended`, `gone`.
    package var phase: String
    package var lastDelivery: DeliveryView?
    /// Of the token that it needs; nil where it needs none.
    package var token: TokenStanding?
    package var waiting: Decision?
    /// For how long Apple has answered nothing of its app, where that is long.
    package var silence: Span?
    package var frames: FrameCounts
    package var shown: PhoneReport?
    /// Whether the state that the phone reported is the projected one; nil where it reported none.
    package var shownMatches: Bool?
}

/// Counters for `/metrics`; they begin at 0 with the process.
package struct CoreCounters: Hashable, Sendable {
    package var eventsAccepted: Int64 = 0
    package var commandsRefused: Int64 = 0
    package var pushesSent: Int64 = 0
    package var pushesAccepted: Int64 = 0
    package var pushesRejected: Int64 = 0
    package var pushesNotSent: Int64 = 0
    package var pushesUnknown: Int64 = 0
    package var framesSent: Int64 = 0
    package var activitiesLive = 0
    package var destinations = 0
    package var devices = 0
    package var deadLetters = 0
    package var pauses = 0
}

extension ActivityView {
    /// An activity that was set aside.
    init(_ damaged: ActivityTable.SetAside) {
        let (activity, traits) = (damaged.activity, damaged.traits)
        self.init(
            key: traits.key, number: activity.number, incarnation: max(1, traits.incarnation),
            type: traits.type, app: traits.app, status: .damaged, version: activity.version,
            seq: activity.seq, tenantSeq: activity.tenantSeq, state: .emptyObject, relevance: nil,
            staleAt: nil, clip: nil, destinations: [], damage: activity.reason)
    }
}
