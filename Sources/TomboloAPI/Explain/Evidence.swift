package import TomboloCore

/// What is on record about one version of an activity at one device or channel: all that an
/// explanation goes by. It comes from the log, so that the same question has the same answer after
/// a restart.
package struct Evidence: Sendable {
    /// The version that is asked about, as the log has it.
    package struct Asked: Sendable {
        package var version: Int64
        package var kind: EventKind
        package var recordedAt: Instant
        /// Why phones ignore its alert; nil where they take it, and where it has none.
        package var alertFault: String?

        package init(
            version: Int64, kind: EventKind, recordedAt: Instant, alertFault: String? = nil
        ) {
            self.version = version
            self.kind = kind
            self.recordedAt = recordedAt
            self.alertFault = alertFault
        }
    }

    package var activity: Identifier
    package var app: String
    package var type: String
    package var status: ActivityStatus
    /// The activity's newest version.
    package var newest: Int64
    package var recipient: Recipient
    /// The device as it is registered now; nil where it is not.
    package var registration: DeviceView?
    package var asked: Asked
    /// The past moment that is asked about; nil: now.
    package var moment: Instant?
    /// The destination as it is now; nil where there is none in memory.
    package var destination: DestinationView?
    /// The channel that the activity goes to, where it goes to one.
    package var channel: Identifier?
    /// Of the activity at the recipient, oldest first.
    package var deliveries: [DeliveryEntry] = []
    /// What is known of the device besides, oldest first: tokens, presence, reports.
    package var phone: [NewFact] = []
    /// `activity.ended`: the relay ended the activity, for its producer was silent; the first one
    /// since the version came.
    package var silentEnd: NewFact?
    /// What happened to the relay, oldest first: upstreams, pauses, disk, clock, starts and stops.
    package var relay: [NewFact] = []
    /// `history.thinned`, oldest first: facts of detail that were left out of the tenant's history.
    package var thinned: [NewFact] = []
    /// What registered types say of the activity as it is now; nil where nothing is known.
    package var typeCheck: TypeCheck?
    /// The last fact before each `relay.started`, by the time of the start: where the relay before
    /// it was killed, it still ran then.
    package var seenBefore: [Instant: Instant] = [:]
    package var now: Instant

    package init(
        activity: Identifier, app: String, type: String, status: ActivityStatus, newest: Int64,
        recipient: Recipient, asked: Asked, now: Instant
    ) {
        self.activity = activity
        self.app = app
        self.type = type
        self.status = status
        self.newest = newest
        self.recipient = recipient
        self.asked = asked
        self.now = now
    }

    /// The name of the device or channel, for texts.
    var device: Identifier { recipient.name }

    /// The delivery that decided the version; nil where none did.
    package var fate: DeliveryEntry? {
        let records = deliveries.map(\.record)
        guard let place = DeliveryRecord.fate(of: asked.version, in: records) else { return nil }
        let goesOn = records[place].decision(of: asked.version) == nil
        // A phone that has a card again gets what comes from then on.
        if goesOn, let phase = destination?.phase, !Self.finished.contains(phase) { return nil }
        return deliveries[place]
    }

    private static let finished: Set<String> = ["ended", "gone", "lapsed", "listening"]

    /// Kinds of facts about a phone that an explanation reads.
    package static let phoneKinds: Set<String> = [
        "token.registered", "token.deleted", "token.retired", "card.reported", "presence.covered",
        "presence.leaving", "presence.returning",
        "device.registered", "device.deleted", "device.user_changed", "alert.expired",
        "clip.frames",
    ]
    /// Kinds of facts about the relay.
    package static let relayKinds: Set<String> = [
        "upstream.closed", "upstream.open", "pause.began", "pause.ended", "disk.full",
        "disk.has_room", "log.full", "log.has_room", "clock.behind", "clock.right",
        "relay.started", "relay.stopped",
    ]
}
