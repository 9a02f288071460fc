import TomboloJSON

/// One incarnation of an activity on one device or channel: where pushes go, and what was sent.
///
/// The life of a card, by `Phase`:
///
/// ```
///            start goes          200               token
///   waiting ───────────> starting ───────> started ──────> live ──── end, 200 ────> ended
///    ^  │                 │    │              │            │  │
///    │  │ start_wait,     │    │ no answer    │ on its     │  └── 8 h are over ──> lapsed
///    │  │ no route        │    v              │ channel    │
///    ├──┼──── not sent ───┘  startUnknown     v            └── dismissed, 410 ──> gone
///    │  │                      │  │ │      listening
///    │  │                      │  │ └── a token or a report: started, live
///    └──┼───── resend ─────────┘  └──── give_up ───────────────────────────────> gone
///       │
///       └── given up: gone · ended before its start: ended
/// ```
///
/// A token may come in any phase: then the card exists, and the phase becomes `live`. With
/// `on_token_gone: restart`, a card whose token is dead waits for another start.
struct Destination: SlotValue {
    enum Phase: UInt8, Hashable, Sendable {
        /// No start was tried yet, or a failed one will be repeated.
        case waiting = 0
        /// A start is in flight.
        case starting = 1
        /// A start was sent and may have reached the phone.
        case startUnknown = 2
        /// Apple has accepted the start; there is no update token yet.
        case started = 3
        case live = 4
        /// Apple has accepted or finally refused the end, or no end was needed.
        case ended = 5
        /// The user has dismissed the card, its token is dead, or its start was given up.
        case gone = 6
        /// The system has ended the card, usually 8 hours after it began.
        case lapsed = 7
        /// The card listens on the activity's channel, which shows it all later versions.
        case listening = 8

        /// True if frames cannot be sent, because there is no card or its token is not known.
        var hasNoCard: Bool {
            switch self {
            case .waiting, .starting, .startUnknown, .started, .gone, .lapsed: true
            case .live, .ended, .listening: false
            }
        }

        /// True if a start may still be sent, for the first time or again.
        var isBeforeStart: Bool { self == .waiting || self == .starting || self == .startUnknown }

        var name: String {
            switch self {
            case .waiting: "waiting"
            case .starting: "starting"
            case .startUnknown: "start_unknown"
            case .started: "started"
            case .live: "live"
            case .ended: "ended"
            case .gone: "gone"
            case .lapsed: "lapsed"
            case .listening: "listening"
            }
        }
    }

    struct InFlight: Sendable {
        var push: PushID
        var event: Push.Event
        var version: Int64
        var contentHash: UInt64
        /// The hash of the visible part of the state; nil if no part is hidden.
        var visibleHash: UInt64?
        var tokenTaken: Bool
        var wish: Wish
        var token: PushToken
        /// The version whose alert the push contains; nil: none. (A start needs no such number.)
        var alert: Int64?
        /// The stale date in the push; nil if the producer has not set one.
        var staleAt: Instant?
        var until: Instant
        var timestamp: Int64
        /// The timestamps of earlier pushes.
        var takenBefore: TakenTimestamps
        var apnsID: APNsID
        var route: DeliveryView.Route
        var priority: UInt8
        var bytes: Int32
        /// How long the push has waited before, and why.
        var delay: Delay?
        /// The value in the state that depends on the app's presence.
        var bound: JSON?
        /// Set if the push has priority 5 despite its high urgency.
        var reserve: Reserve?

        var isFrame: Bool { wish == .frame }
        var isEcho: Bool { wish == .echo }
    }

    enum Reservation: UInt8, Sendable {
        case none
        /// It waits until its batch is durable.
        case pending
        /// It is durable: the attempt for which it was made may be sent.
        case granted
    }

    // There may be a hundred thousand destinations, and each use copies one. So large or rare
    // members are behind references, numbers are as narrow as possible, and the order avoids
    // padding.

    /// The number of the checkpoint's record. It is never used again.
    let number: Int64
    private var card: CardNumber
    var phaseSince: Instant
    /// The newest version that Apple has accepted, or that needs no push.
    var acknowledged: Int64 = 0
    /// Alerts up to this version were tried or have expired. It is durable before an alert is
    /// tried.
    var alertsThrough: Int64 = 0
    var contentHash: UInt64 = 0
    /// The update token, or the channel's id; nil if it is not known.
    var token: PushToken?
    @Seldom var inFlight: InFlight?
    @Seldom var cursor: FrameCursor?
    /// How long the waiting change has waited, and why.
    @Seldom var delay: Delay?
    @Seldom var rare: Rare?
    private var cardSinceOrNever = Instant.distantPast
    /// Wall time since which a start waits, whatever it waits for and however often it was tried.
    var startWaitsSince = Instant.distantFuture
    private var waitingUntil = Instant.distantFuture
    /// The decisions about the activity's events at this destination.
    var ledger: Ledger
    private let activityPlace: Int32
    var pacing = PacingState()
    var phase = Phase.waiting
    var reservation = Reservation.none
    private var flags: Flags = .checkpointIsDirty
    private var waitReason: WaitReason?
    /// The decision that `DeliveryRecord.goesOn` extends to all later events; nil if none does.
    var goesOn: EventDecision?
    private var refusals: UInt8 = 0
    /// The last step in the card's life that is recorded.
    var story = CardStory.none
    var echo = Echo()
    private let upstreamByte: UInt8
    private let devicePlace: Int32
    private var lastPush: LastPush?

    struct Flags: OptionSet, Sendable {
        let rawValue: UInt16

        /// True if no channel was available for the card, so that it uses an update token.
        static let hasFallenBack = Flags(rawValue: 1 << 0)
        /// True if a token of the device's budget for starts is reserved for this destination.
        static let holdsStartToken = Flags(rawValue: 1 << 1)
        /// True if a state shared its second with another push, so that it must be sent again with
        /// a later one.
        static let owesTrailing = Flags(rawValue: 1 << 2)
        static let reservedStart = Flags(rawValue: 1 << 3)
        /// True if a place in flight at the upstream is kept for the reserved push.
        static let keepsPlace = Flags(rawValue: 1 << 4)
        static let isQueued = Flags(rawValue: 1 << 5)
        /// True if it is not known how the incarnation ended. `final` then has the activity's
        /// present state.
        static let hasForgottenEnd = Flags(rawValue: 1 << 6)
        static let checkpointIsDirty = Flags(rawValue: 1 << 7)
        /// True until the token is durable. Nothing is sent to the token before, because the next
        /// relay must know every token that may have got a push.
        static let tokenIsNew = Flags(rawValue: 1 << 8)
        /// True if the phone reported that the user dismissed this card or an earlier one: no card
        /// follows.
        static let wasDismissed = Flags(rawValue: 1 << 9)
        /// True until the card that replaces this one, or its former user's end, is durable.
        /// Nothing is sent before, because the next relay must know which card was to end.
        static let awaitsSuccession = Flags(rawValue: 1 << 10)
        /// True if the stored checkpoint lacks only updates that were sent, so that writing it can
        /// wait.
        static let checkpointMayWait = Flags(rawValue: 1 << 11)
        /// True if Apple has finally refused the start, and no card has begun since.
        static let startWasRefused = Flags(rawValue: 1 << 12)
        /// True if the start waited too long and was dropped, and no card has begun since.
        static let startWasSkipped = Flags(rawValue: 1 << 13)
        /// True if a card was lost and another one was started for it (`on_token_gone`). There is
        /// no third one.
        static let wasMadeAnew = Flags(rawValue: 1 << 15)
    }

    // These members are read and changed behind their reference, so that nothing is copied.

    var hasCursor: Bool { _cursor.isThere }
    /// The cursor of the clip that plays. Use it only if `hasCursor`.
    var playing: FrameCursor {
        _read { yield _cursor.value }
        _modify { yield &_cursor.value }
    }
    var inFlightUntil: Instant? { _inFlight.isThere ? _inFlight.value.until : nil }
    var carriedVersion: Int64? { _inFlight.isThere ? _inFlight.value.version : nil }
    var hasFinal: Bool { _rare.isThere && _rare.value.hasFinal }

    /// True if a card may exist, because a start was sent or a token came. Only an app that starts
    /// its cards itself can have one without that.
    var mayHaveCard: Bool { phase != .waiting || cardSince != nil }

    var hasRouteToEnd: Bool { phase == .live && token != nil && !isOverOnPhone }

    /// True if no further change will be sent to this destination; its end may still be repeated.
    var isFinished: Bool {
        switch phase {
        case .ended, .gone, .lapsed, .listening: true
        case .waiting, .starting, .startUnknown, .started, .live: false
        }
    }

    init(
        number: Int64, activity: ActivitySlot, device: DeviceSlot, incarnation: Int64,
        renewal: Int64 = 0,
        upstream: UpstreamNumber, ledger: Ledger, phaseSince: Instant
    ) {
        self.number = number
        activityPlace = Int32(activity.place)
        devicePlace = Int32(device.place)
        card = CardNumber(incarnation: incarnation, renewal: renewal)
        upstreamByte = UInt8(upstream.rawValue)
        self.ledger = ledger
        self.phaseSince = phaseSince
    }

    /// What a free slot of the table contains. Numbers of destinations begin at 1.
    static let vacant = Destination(
        number: 0, activity: Slot(0), device: Slot(0), incarnation: 0, upstream: UpstreamNumber(0),
        ledger: Ledger(since: 1), phaseSince: .distantPast)
    var isVacant: Bool { number == 0 }

    /// Makes this the destination of another card of its activity.
    mutating func become(incarnation: Int64, renewal: Int64) {
        card = CardNumber(incarnation: incarnation, renewal: renewal)
    }

    var activity: ActivitySlot { Slot(Int(activityPlace)) }
    var device: DeviceSlot { Slot(Int(devicePlace)) }
    /// Names the card among those of its activity that its device has or had (`nextCard`).
    var cardNumber: Int64 { card.inFacts }
    var incarnation: Int64 { card.incarnation }
    /// Number of the card in its incarnation on this device, as in `ActivityReference`.
    var renewal: Int64 { card.renewal }
    /// One byte is enough for `CoreConfiguration.appsMax` upstreams, as it is in `PushID`.
    var upstream: UpstreamNumber { UpstreamNumber(Int32(upstreamByte)) }

    subscript(flag: Flags) -> Bool {
        get { flags.contains(flag) }
        set { if newValue { flags.insert(flag) } else { flags.remove(flag) } }
    }

    /// The decision about events while no card can be reached.
    var noRoute: EventDecision { self[.startWasSkipped] ? .startWait : .noRoute }

    /// Why nothing goes to a card that is not there; nil if it is.
    var skipWithoutCard: Skip? {
        self[.startWasSkipped] ? .startWait : phase.hasNoCard ? .noRoute : nil
    }

    /// Monotonic time at which the card began; nil if not known. The time does not count in which
    /// the machine was off, so the card is at least as old as it says. The system ends the card
    /// after 8 hours.
    var cardSince: Instant? {
        get { cardSinceOrNever == .distantPast ? nil : cardSinceOrNever }
        set { cardSinceOrNever = newValue ?? .distantPast }
    }

    /// Why the newest change waits, and until when; nil if nothing waits.
    var waiting: Decision? {
        get {
            waitReason.map {
                .deferred(until: waitingUntil == .distantFuture ? nil : waitingUntil, $0)
            }
        }
        set {
            guard case .deferred(let until, let reason)? = newValue else {
                waitReason = nil
                return
            }
            waitReason = reason
            waitingUntil = until ?? .distantFuture
        }
    }

    /// Measures how long the newest change waits, for each reason.
    ///
    /// - Parameters:
    ///   - reason: why the change waits; nil if nothing waits.
    ///   - version: the newest version of the activity.
    mutating func noteWait(_ reason: WaitReason?, newest version: Int64, now: Instant) {
        guard let reason else {
            if _delay.isThere { delay = nil }
            return
        }
        let isOfChange = version > ledger.decidedThrough && version > (carriedVersion ?? 0)
        guard _delay.isThere, _delay.value.isOfChange || !isOfChange else {
            delay = Delay(reason, isOfChange: isOfChange, now: now)
            return
        }
        if _delay.value.reason != reason { _delay.value.change(to: reason, now: now) }
    }

    /// Number of refusals in a row, at most 255.
    var refusalsInRow: Int {
        get { Int(refusals) }
        set { refusals = UInt8(clamping: newValue) }
    }

    /// The last push that was not only a frame.
    var lastDelivery: DeliveryView? {
        get { lastPush.map { $0.view(failure: rare?.failure) } }
        set {
            lastPush = newValue.map { LastPush($0) }
            let failure = newValue?.result.flatMap { $0 == .accepted ? nil : $0 }
            if failure != nil || rare != nil { keep { $0.failure = failure } }
        }
    }
}
