import TomboloJSON

/// One way to one surface: an activity's incarnation on one device.
///
/// A card's life, by `Phase`:
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
/// A token may come in any phase: then the card is there, and the phase is `live`. A card whose
/// token is gone waits for its next start where `on_token_gone` is `restart`.
struct Destination: SlotValue {
    enum Phase: UInt8, Hashable, Sendable {
        /// No start was tried.
        case waiting = 0
        /// A start is reserved or in flight.
        case starting = 1
        /// A start that may have reached the phone.
        case startUnknown = 2
        /// Apple took the start; no update token yet.
        case started = 3
        case live = 4
        /// Apple took the end, or there was nothing to end.
        case ended = 5
        /// Swiped away, its token is gone, or its start was given up.
        case gone = 6
        /// The system has ended its card, 8 hours after it began.
        case lapsed = 7
        /// Its card listens on the activity's channel: what follows goes there.
        case listening = 8

        /// No frame can go there: there is no card, or none any more, or nobody knows its token.
        var hasNoCard: Bool {
            switch self {
            case .waiting, .starting, .startUnknown, .started, .gone, .lapsed: true
            case .live, .ended, .listening: false
            }
        }

        /// Its start may still go, or go again.
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
        /// Of what is visible of it; nil where all is.
        var visibleHash: UInt64?
        var tokenTaken: Bool
        var wish: Wish
        var token: PushToken
        /// The version whose alert it carries; a start's is its own.
        var alert: Int64?
        /// The stale date that it tells, where its producer wants one.
        var staleAt: Instant?
        var until: Instant
        var timestamp: Int64
        /// What Apple took before it.
        var takenBefore: TakenTimestamps
        var apnsID: APNsID
        var route: DeliveryView.Route
        var priority: UInt8
        /// Of the payload.
        var bytes: Int32
        /// What had held back what it carries.
        var delay: Delay?
        /// The value in it that follows where the app is.
        var bound: JSON?
        /// What kept priority 10 from it, although its urgency is high.
        var reserve: Reserve?

        var isFrame: Bool { wish == .frame }
        var isEcho: Bool { wish == .echo }
    }

    enum Reservation: UInt8, Sendable {
        case none
        /// Waits for its batch.
        case pending
        /// Durable: the attempt that it was made for may go.
        case granted
    }

    // A hundred thousand are at rest, and one is copied with each look at it: what is large or
    // mostly absent stands in boxes, numbers are as narrow as they may be, and they are in an order
    // that leaves no gaps.

    /// Names its mark; never used twice.
    let number: Int64
    private var card: CardNumber
    var phaseSince: Instant
    /// The newest version that Apple took, or that needs no push.
    var acknowledged: Int64 = 0
    /// Alerts up to this version were tried or have expired: durable before the try.
    var alertsThrough: Int64 = 0
    var contentHash: UInt64 = 0
    /// The update token, while there is one.
    var token: PushToken?
    @Seldom var inFlight: InFlight?
    @Seldom var cursor: FrameCursor?
    /// For how long what waits is held.
    @Seldom var delay: Delay?
    @Seldom var rare: Rare?
    private var cardSinceOrNever = Instant.distantPast
    /// Wall time since which its start waits, whatever holds it and however often it was tried.
    var startWaitsSince = Instant.distantFuture
    private var waitingUntil = Instant.distantFuture
    /// What became of its events.
    var ledger: Ledger
    private let activityPlace: Int32
    var pacing = PacingState()
    var phase = Phase.waiting
    var reservation = Reservation.none
    private var flags: Flags = .markIsDirty
    private var hold: Hold?
    /// It is on record that what comes ends so (`DeliveryRecord.goesOn`); nil where it is not.
    var goesOn: EventDecision?
    private var refusals: UInt8 = 0
    /// How far the history of its card has come.
    var story = CardStory.none
    var echo = Echo()
    private let laneByte: UInt8
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

    // What is read and changed in its box, so that nothing is copied.

    var hasCursor: Bool { _cursor.isThere }
    /// The cursor of the clip that plays. Only while it has one.
    var playing: FrameCursor {
        _read { yield _cursor.value }
        _modify { yield &_cursor.value }
    }
    var inFlightUntil: Instant? { _inFlight.isThere ? _inFlight.value.until : nil }
    /// The version on its way.
    var carriedVersion: Int64? { _inFlight.isThere ? _inFlight.value.version : nil }
    var hasFinal: Bool { _rare.isThere && _rare.value.hasFinal }

    /// Whether a start or a token has been here: without one only an app that begins its cards
    /// itself has one.
    var mayHaveCard: Bool { phase != .waiting || cardSince != nil }

    /// Whether its card can hear of an end.
    var hasRouteToEnd: Bool { phase == .live && token != nil && !isOverOnPhone }

    /// Whether nothing new will ever be sent to it again.
    var isFinished: Bool {
        switch phase {
        case .ended, .gone, .lapsed, .listening: true
        case .waiting, .starting, .startUnknown, .started, .live: false
        }
    }

    init(
        number: Int64, activity: ActivitySlot, device: DeviceSlot, incarnation: Int64,
        renewal: Int64 = 0,
        lane: LaneNumber, ledger: Ledger, phaseSince: Instant
    ) {
        self.number = number
        activityPlace = Int32(activity.place)
        devicePlace = Int32(device.place)
        card = CardNumber(incarnation: incarnation, renewal: renewal)
        laneByte = UInt8(lane.rawValue)
        self.ledger = ledger
        self.phaseSince = phaseSince
    }

    /// What fills a place that nobody has; numbers begin at 1.
    static let vacant = Destination(
        number: 0, activity: Slot(0), device: Slot(0), incarnation: 0, lane: LaneNumber(0),
        ledger: Ledger(since: 1), phaseSince: .distantPast)
    var isVacant: Bool { number == 0 }

    /// Goes on as another card of its activity.
    mutating func become(incarnation: Int64, renewal: Int64) {
        card = CardNumber(incarnation: incarnation, renewal: renewal)
    }

    var activity: ActivitySlot { Slot(Int(activityPlace)) }
    var device: DeviceSlot { Slot(Int(devicePlace)) }
    var incarnation: Int64 { card.incarnation }
    /// Which card of the incarnation on this device (`ActivityReference`).
    var renewal: Int64 { card.renewal }
    /// `CoreConfiguration.appsMax` has room here, and in an outcome's number.
    var lane: LaneNumber { LaneNumber(Int32(laneByte)) }

    /// No channel was to be had for its card: an update token will do.
    var hasFallenBack: Bool {
        get { flags[.hasFallenBack] }
        set { flags[.hasFallenBack] = newValue }
    }
    /// Its phone has said that its user swiped it away, this card or one before it: it has no
    /// successor.
    var wasDismissed: Bool {
        get { flags[.wasDismissed] }
        set { flags[.wasDismissed] = newValue }
    }
    /// Its card has a successor, which is not durable yet: nothing goes to it, for a later relay
    /// must know what was ended.
    var awaitsSuccession: Bool {
        get { flags[.awaitsSuccession] }
        set { flags[.awaitsSuccession] = newValue }
    }
    /// A token of the device's budget for starts is paid for, and not spent.
    var holdsStartToken: Bool {
        get { flags[.holdsStartToken] }
        set { flags[.holdsStartToken] = newValue }
    }
    /// A state shared its second with another push: it goes once more with a newer one.
    var owesTrailing: Bool {
        get { flags[.owesTrailing] }
        set { flags[.owesTrailing] = newValue }
    }
    /// The reservation is for the start.
    var reservedStart: Bool {
        get { flags[.reservedStart] }
        set { flags[.reservedStart] = newValue }
    }
    /// A place in its lane is taken for what is reserved.
    var keepsPlace: Bool {
        get { flags[.keepsPlace] }
        set { flags[.keepsPlace] = newValue }
    }
    var isQueued: Bool {
        get { flags[.isQueued] }
        set { flags[.isQueued] = newValue }
    }
    /// Why nothing goes to it where no card can be reached.
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
    /// Its card was lost, and its producer has had another one made: there is no third
    /// (`on_token_gone`).
    var wasMadeAnew: Bool {
        get { flags[.wasMadeAnew] }
        set { flags[.wasMadeAnew] = newValue }
    }
    /// How its incarnation ended was done with and is not remembered: `final` is a stand-in.
    var hasForgottenEnd: Bool {
        get { flags[.hasForgottenEnd] }
        set { flags[.hasForgottenEnd] = newValue }
    }
    /// The token is not durable yet: nothing goes to it, for a later relay must know of every token
    /// that a push may have gone to.
    var tokenIsNew: Bool {
        get { flags[.tokenIsNew] }
        set { flags[.tokenIsNew] = newValue }
    }
    /// All that is new in the mark is that updates went.
    var markMayWait: Bool {
        get { flags[.markMayWait] }
        set { flags[.markMayWait] = newValue }
    }
    var markIsDirty: Bool {
        get { flags[.markIsDirty] }
        set { flags[.markIsDirty] = newValue }
    }

    /// Wall time of the card's beginning, as far as it is known: the system ends it 8 hours later.
    var cardSince: Instant? {
        get { cardSinceOrNever == .distantPast ? nil : cardSinceOrNever }
        set { cardSinceOrNever = newValue ?? .distantPast }
    }

    /// What holds its newest change back; nil where nothing does.
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

    /// Counts what holds its newest change back.
    ///
    /// - Parameters:
    ///   - hold: nil where nothing waits.
    ///   - version: the newest of its activity.
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

    /// More than so many are counted as so many.
    var refusalsInRow: Int {
        get { Int(refusals) }
        set { refusals = UInt8(clamping: newValue) }
    }

    /// The last push that was no frame.
    var lastDelivery: DeliveryView? {
        get { lastPush.map { $0.view(failure: rare?.failure) } }
        set {
            lastPush = newValue.map { LastPush($0) }
            let failure = newValue?.result.flatMap { $0 == .accepted ? nil : $0 }
            if failure != nil || rare != nil { keep { $0.failure = failure } }
        }
    }
}
