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

/// A clip as readers see it.
package struct ClipView: Sendable {
    package var name: String
    package var frames: Int
    package var every: Span
    package var path: String
    package var playing: Bool
}

extension ClipView {
    /// A clip as it stands at an instant by the producer's clock.
    package init(_ playing: Projection.PlayingClip, at instant: Instant) {
        name = playing.name
        frames = Int(clamping: playing.clip.frameCount)
        every = playing.clip.every
        path = playing.clip.path.description
        self.playing = !playing.isOver(at: instant)
    }
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
    package var waiting: Decision?
    /// For how long Apple has answered nothing of its app, where that is long.
    package var silence: Span?
    package var frames: FrameCounts
    package var shown: PhoneReport?
    /// Whether the state that the phone reported is the projected one; nil where it reported none.
    package var shownMatches: Bool?
}

/// The last push of a destination that was no frame.
package struct DeliveryView: Hashable, Sendable {
    /// The way that it took.
    package enum Route: UInt8, Hashable, Sendable, CaseIterable {
        case updateToken, pushToStart, channel

        /// The one of that `name`.
        init?(name: String) {
            guard let found = Self.allCases.first(where: { $0.name == name }) else { return nil }
            self = found
        }

        package var name: String {
            switch self {
            case .updateToken: "update_token"
            case .pushToStart: "push_to_start"
            case .channel: "channel"
            }
        }
    }

    package var version: Int64
    package var route: Route
    package var apnsID: APNsID
    package var priority: UInt8
    /// nil while it is in flight.
    package var result: PushResult?
    package var took: Span

    package init(
        version: Int64, route: Route, apnsID: APNsID, priority: UInt8, result: PushResult?,
        took: Span
    ) {
        self.version = version
        self.route = route
        self.apnsID = apnsID
        self.priority = priority
        self.result = result
        self.took = took
    }

    /// How answers name it.
    package var id: String { apnsID.deliveryID }
}

/// Frames of clips at one destination, by the producer's clock. `asked` is always the sum of the
/// others.
package struct FrameCounts: Hashable, Sendable {
    package var asked: Int64 = 0
    package var sent: Int64 = 0
    package var merged: Int64 = 0
    /// By reason: slowed, no route, the app in front, an operator's pause, the same as before.
    package var slowed: Int64 = 0
    package var noRoute: Int64 = 0
    package var hidden: Int64 = 0
    package var paused: Int64 = 0
    package var unchanged: Int64 = 0
    /// For so long frames were asked for.
    package var time = Span.zero

    package var skipped: Int64 { slowed + noRoute + hidden + paused + unchanged }

    /// Frames shown a second, of the time in which any were asked for; nil where none was.
    package var achievedPerSecond: Double? {
        time > .zero ? Double(sent) / time.seconds : nil
    }
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
