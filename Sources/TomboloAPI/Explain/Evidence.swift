package import TomboloCore

/// All recorded facts about one version of an activity at one device or channel. An explanation
/// uses nothing else. They come from the log, so a question has the same answer after a restart;
/// only `refusals` do not.
package struct Evidence: Sendable {
    /// The version that the question is about, as the log has it.
    package struct Asked: Sendable {
        package var version: Int64
        package var kind: EventKind
        package var recordedAt: Instant
        /// Why phones ignore the version's alert; nil if they accept it or there is no alert.
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

    /// What the activity's producer has sent that the relay refused.
    package struct Refusals: Sendable {
        package var count: Int
        package var last: Instant
        /// Why the last one was refused.
        package var cause: RequestEntry.Cause

        /// Makes the refusals from all their values. `count` is at least 1.
        package init(count: Int, last: Instant, cause: RequestEntry.Cause) {
            (self.count, self.last, self.cause) = (count, last, cause)
        }
    }

    package var activity: Identifier
    package var app: String
    package var type: String
    package var status: ActivityStatus
    /// The activity's newest version.
    package var newest: Int64
    package var recipient: Recipient
    /// The device as it is registered now; nil if it is not registered.
    package var registration: DeviceView?
    package var asked: Asked
    /// The past moment that the question is about; nil: now.
    package var moment: Instant?
    /// When the newest state becomes stale; nil: never.
    package var staleAt: Instant?
    /// The destination's present state; nil if the relay does not have it in memory.
    package var destination: DestinationView?
    /// The cards that get the activity's versions there, the one in question first. Empty: any card
    /// that was ever there.
    package var cards: [Int64] = []
    /// The activity's channel, if it has one.
    package var channel: Identifier?
    /// Deliveries of the activity to the recipient, oldest first.
    package var deliveries: [DeliveryEntry] = []
    /// Other facts about the device, oldest first: tokens, presence, reports.
    package var phone: [NewFact] = []
    /// The first `activity.ended` fact after the version: the relay ended the activity because its
    /// producer was silent. Nil if there is none.
    package var silentEnd: NewFact?
    /// Facts about the relay, oldest first: upstreams, pauses, disk, clock, starts and stops.
    package var relay: [NewFact] = []
    /// `history.thinned` facts, oldest first. They count facts that the relay did not keep.
    package var thinned: [NewFact] = []
    /// The check of the activity's state against its registered type; nil if no type is known.
    package var typeCheck: TypeCheck?
    /// For each `relay.started`, by its time: the time of the last fact before it. A relay that was
    /// killed was still running at that time.
    package var seenBefore: [Instant: Instant] = [:]
    /// What the producer was refused since the version; nil if nothing is remembered. It is in
    /// memory only, so a restart forgets it.
    package var refusals: Refusals?
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

    /// Chooses whose decision explains the version: the card in question, or else the recipient's
    /// newest card that gets versions. What came before that card was decided at any other.
    package mutating func chooseCard(among all: [DestinationView], _ card: Int64?) {
        let own = all.filter { $0.recipient == recipient }.reversed()
        if let card {
            (destination, cards) = (own.first { $0.card == card }, [card])
            return
        }
        destination = own.first(where: \.follows) ?? own.first
        guard let destination, destination.since <= asked.version else { return }
        cards = own.filter(\.follows).map(\.card)
    }

    /// The name of the device or channel, for sentences.
    var device: Identifier { recipient.name }

    /// The delivery that decided about the version; nil if none did.
    package var fate: DeliveryEntry? {
        let records = deliveries.map(\.record)
        let own = DeliveryRecord.fate(of: asked.version, in: records, at: cards.first)
        // A card to be replaced shows what its successor cannot get yet.
        let others = cards.dropFirst().compactMap {
            DeliveryRecord.fate(of: asked.version, in: records, at: $0)
        }
        guard
            let place = own ?? others.first(where: { records[$0].attempt?.answer == .accepted })
        else { return nil }
        let goesOn = records[place].decision(of: asked.version) == nil
        // The phone has a card again and gets later versions, so this decision is not final.
        if goesOn, let phase = destination?.phase, !Self.finished.contains(phase) { return nil }
        return deliveries[place]
    }

    private static let finished: Set<String> = [
        "ended", "gone", "unreachable", "lapsed", "listening",
    ]

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
