import TomboloJSON

/// One way to one surface: an incarnation of an activity on one device.
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
/// A token may come in any phase: the card is there then, and the phase becomes `live`. A card
/// whose token is gone waits for its next start where `on_token_gone` is `restart`.
struct Destination: SlotValue {
    enum Phase: UInt8, Hashable, Sendable {
        /// No start was tried.
        case waiting = 0
        /// A start is reserved or in flight.
        case starting = 1
        /// A start was sent that may have reached the phone.
        case startUnknown = 2
        /// Apple took the start; no update token yet.
        case started = 3
        case live = 4
        /// Apple took the end, or no end was needed.
        case ended = 5
        /// The user dismissed the card, its token is gone, or its start was given up.
        case gone = 6
        /// The system has ended its card, 8 hours after it began.
        case lapsed = 7
        /// The card listens on the activity's channel: later versions go there.
        case listening = 8

        /// No frame can be sent: there is no card (any more), or its token is unknown.
        var hasNoCard: Bool {
            switch self {
            case .waiting, .starting, .startUnknown, .started, .gone, .lapsed: true
            case .live, .ended, .listening: false
            }
        }

        /// Its start may still be sent, for the first time or again.
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
        /// The hash of the visible part of the state; nil if all of it is visible.
        var visibleHash: UInt64?
        var tokenTaken: Bool
        var wish: Wish
        var token: PushToken
        /// The version whose alert the push carries; a start carries its own version's.
        var alert: Int64?
        /// The stale date in the push, if the producer wants one.
        var staleAt: Instant?
        var until: Instant
        var timestamp: Int64
        /// The timestamps that Apple took before this push.
        var takenBefore: TakenTimestamps
        var apnsID: APNsID
        var route: DeliveryView.Route
        var priority: UInt8
        /// Size of the payload.
        var bytes: Int32
        /// What had delayed the version that the push carries.
        var delay: Delay?
        /// The value in the state that follows the app's presence.
        var bound: JSON?
        /// Why the push has priority 5 although its urgency is high.
        var reserve: Reserve?

        var isFrame: Bool { wish == .frame }
        var isEcho: Bool { wish == .echo }
    }

    enum Reservation: UInt8, Sendable {
        case none
        /// Waits until its batch is durable.
        case pending
        /// Durable: the attempt that it was made for may be sent.
        case granted
    }

    // A hundred thousand destinations are at rest, and one is copied with each look at it. So large
    // or mostly absent members are in boxes, numbers are as narrow as possible, and the order
    // leaves no gaps.

    /// Names its checkpoint; never used twice.
    let number: Int64
    private var card: CardNumber
    var phaseSince: Instant
    /// The newest version that Apple took, or that needs no push.
    var acknowledged: Int64 = 0
    /// Alerts up to this version were tried or have expired; durable before the try.
    var alertsThrough: Int64 = 0
    var contentHash: UInt64 = 0
    /// The update token, while there is one.
    var token: PushToken?
    @Seldom var inFlight: InFlight?
    @Seldom var cursor: FrameCursor?
    /// How long the waiting change has been delayed.
    @Seldom var delay: Delay?
    @Seldom var rare: Rare?
    private var cardSinceOrNever = Instant.distantPast
    /// Wall time since which its start waits, for any wait reason and however often it was tried.
    var startWaitsSince = Instant.distantFuture
    private var waitingUntil = Instant.distantFuture
    /// The decisions on its events.
    var ledger: Ledger
    private let activityPlace: Int32
    var pacing = PacingState()
    var phase = Phase.waiting
    var reservation = Reservation.none
    private var flags: Flags = .markIsDirty
    private var hold: Hold?
    /// The decision on record for all later events (`DeliveryRecord.goesOn`); nil if there is none.
    var goesOn: EventDecision?
    private var refusals: UInt8 = 0
    /// How far the history of its card has been written.
    var story = CardStory.none
    var echo = Echo()
    private let upstreamByte: UInt8
    private let devicePlace: Int32
    private var lastPush: LastPush?

    private struct Flags: OptionSet, Sendable {
        let rawValue: UInt16

        static let hasFallenBack = Flags(rawValue: 1 << 0)
        static let holdsStartToken = Flags(rawValue: 1 << 1)
        static let owesTrailing = Flags(rawValue: 1 << 2)
        static let reservedStart = Flags(rawValue: 1 << 3)
        static let keepsPlace = Flags(rawValue: 1 << 4)
        static let isQueued = Flags(rawValue: 1 << 5)
        static let hasForgottenEnd = Flags(rawValue: 1 << 6)
        static let markIsDirty = Flags(rawValue: 1 << 7)
        static let tokenIsNew = Flags(rawValue: 1 << 8)
        static let wasDismissed = Flags(rawValue: 1 << 9)
        static let awaitsSuccession = Flags(rawValue: 1 << 10)
        static let markMayWait = Flags(rawValue: 1 << 11)
        static let startWasRefused = Flags(rawValue: 1 << 12)
        static let startWasSkipped = Flags(rawValue: 1 << 13)
        static let wasMadeAnew = Flags(rawValue: 1 << 15)

        subscript(flag: Flags) -> Bool {
            get { contains(flag) }
            set { if newValue { insert(flag) } else { remove(flag) } }
        }
    }

    // Members that are read and changed in their box, so that nothing is copied.

    var hasCursor: Bool { _cursor.isThere }
    /// The cursor of the clip that plays. Call it only if `hasCursor`.
    var playing: FrameCursor {
        _read { yield _cursor.value }
        _modify { yield &_cursor.value }
    }
    var inFlightUntil: Instant? { _inFlight.isThere ? _inFlight.value.until : nil }
    /// The version in flight.
    var carriedVersion: Int64? { _inFlight.isThere ? _inFlight.value.version : nil }
    var hasFinal: Bool { _rare.isThere && _rare.value.hasFinal }

    /// Whether a card may be there: there was a start or a token. Without both, only an app that
    /// begins its cards itself has a card.
    var mayHaveCard: Bool { phase != .waiting || cardSince != nil }

    /// Whether an end can be sent to its card.
    var hasRouteToEnd: Bool { phase == .live && token != nil && !isOverOnPhone }

    /// Whether nothing new will ever be sent to this destination.
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

    /// The content of a free slot of the table; the numbers of destinations begin at 1.
    static let vacant = Destination(
        number: 0, activity: Slot(0), device: Slot(0), incarnation: 0, upstream: UpstreamNumber(0),
        ledger: Ledger(since: 1), phaseSince: .distantPast)
    var isVacant: Bool { number == 0 }

    /// Becomes the destination of another card of its activity.
    mutating func become(incarnation: Int64, renewal: Int64) {
        card = CardNumber(incarnation: incarnation, renewal: renewal)
    }

    var activity: ActivitySlot { Slot(Int(activityPlace)) }
    var device: DeviceSlot { Slot(Int(devicePlace)) }
    var incarnation: Int64 { card.incarnation }
    /// Counts the cards of the incarnation on this device (`ActivityReference`).
    var renewal: Int64 { card.renewal }
    /// `CoreConfiguration.appsMax` fits in this byte, and in the upstream's bits of a `PushID`.
    var upstream: UpstreamNumber { UpstreamNumber(Int32(upstreamByte)) }

    /// No channel was available for its card: an update token is used instead.
    var hasFallenBack: Bool {
        get { flags[.hasFallenBack] }
        set { flags[.hasFallenBack] = newValue }
    }
    /// The phone reported that the user dismissed this card or one before it: no card succeeds it.
    var wasDismissed: Bool {
        get { flags[.wasDismissed] }
        set { flags[.wasDismissed] = newValue }
    }
    /// Its card has a successor that is not durable yet. Nothing is sent meanwhile, because a later
    /// relay must know which card was ended.
    var awaitsSuccession: Bool {
        get { flags[.awaitsSuccession] }
        set { flags[.awaitsSuccession] = newValue }
    }
    /// A token of the device's budget for starts is paid for and not spent.
    var holdsStartToken: Bool {
        get { flags[.holdsStartToken] }
        set { flags[.holdsStartToken] = newValue }
    }
    /// A state shared its second with another push: it is to be sent again with a newer timestamp.
    var owesTrailing: Bool {
        get { flags[.owesTrailing] }
        set { flags[.owesTrailing] = newValue }
    }
    /// The reservation is for the start.
    var reservedStart: Bool {
        get { flags[.reservedStart] }
        set { flags[.reservedStart] = newValue }
    }
    /// A place in flight at its upstream is taken for the reserved push.
    var keepsPlace: Bool {
        get { flags[.keepsPlace] }
        set { flags[.keepsPlace] = newValue }
    }
    var isQueued: Bool {
        get { flags[.isQueued] }
        set { flags[.isQueued] = newValue }
    }
    /// The decision on its events while no card can be reached.
    var noRoute: EventDecision { startWasSkipped ? .startWait : .noRoute }
    /// Its start waited too long and was not sent, and no card has begun since.
    var startWasSkipped: Bool {
        get { flags[.startWasSkipped] }
        set { flags[.startWasSkipped] = newValue }
    }
    /// Apple has refused its start for good, and no card has begun since.
    var startWasRefused: Bool {
        get { flags[.startWasRefused] }
        set { flags[.startWasRefused] = newValue }
    }
    /// Its card was lost and its producer has had another one made: there is no third
    /// (`on_token_gone`).
    var wasMadeAnew: Bool {
        get { flags[.wasMadeAnew] }
        set { flags[.wasMadeAnew] = newValue }
    }
    /// How its incarnation ended is dealt with and not remembered: `final` is a stand-in.
    var hasForgottenEnd: Bool {
        get { flags[.hasForgottenEnd] }
        set { flags[.hasForgottenEnd] = newValue }
    }
    /// The token is not durable yet. Nothing is sent to it, because a later relay must know every
    /// token that may have had a push.
    var tokenIsNew: Bool {
        get { flags[.tokenIsNew] }
        set { flags[.tokenIsNew] = newValue }
    }
    /// The checkpoint differs from the stored one only by updates that were sent.
    var markMayWait: Bool {
        get { flags[.markMayWait] }
        set { flags[.markMayWait] = newValue }
    }
    var markIsDirty: Bool {
        get { flags[.markIsDirty] }
        set { flags[.markIsDirty] = newValue }
    }

    /// Wall time at which the card began, if known: the system ends it 8 hours later.
    var cardSince: Instant? {
        get { cardSinceOrNever == .distantPast ? nil : cardSinceOrNever }
        set { cardSinceOrNever = newValue ?? .distantPast }
    }

    /// Why its newest change waits, and until when; nil if nothing waits.
    var waiting: Decision? {
        get {
            hold.map { .deferred(until: waitingUntil == .distantFuture ? nil : waitingUntil, $0) }
        }
        set {
            guard case .deferred(let until, let hold)? = newValue else {
                hold = nil
                return
            }
            self.hold = hold
            waitingUntil = until ?? .distantFuture
        }
    }

    /// Measures how long its newest change waits, by wait reason.
    ///
    /// - Parameters:
    ///   - hold: the wait reason; nil if nothing waits.
    ///   - version: the newest version of its activity.
    mutating func noteHold(_ hold: Hold?, newest version: Int64, now: Instant) {
        guard let hold else {
            if _delay.isThere { delay = nil }
            return
        }
        let isOfChange = version > ledger.decidedThrough && version > (carriedVersion ?? 0)
        guard _delay.isThere, _delay.value.isOfChange || !isOfChange else {
            delay = Delay(hold, isOfChange: isOfChange, now: now)
            return
        }
        if _delay.value.hold != hold { _delay.value.change(to: hold, now: now) }
    }

    /// Refusals in a row; higher numbers count as 255.
    var refusalsInRow: Int {
        get { Int(refusals) }
        set { refusals = UInt8(clamping: newValue) }
    }

    /// The last push other than frames.
    var lastDelivery: DeliveryView? {
        get { lastPush.map { $0.view(failure: rare?.failure) } }
        set {
            lastPush = newValue.map { LastPush($0) }
            let failure = newValue?.result.flatMap { $0 == .accepted ? nil : $0 }
            if failure != nil || rare != nil { keep { $0.failure = failure } }
        }
    }
}
