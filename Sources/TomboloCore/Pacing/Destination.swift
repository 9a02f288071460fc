import TomboloJSON

/// One way to one surface: an activity's incarnation on one device.
struct Destination: Sendable {
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
        var tokenTaken: Bool
        var isFrame: Bool
        var token: String
        /// The version whose alert it carries; a start's is its own.
        var alert: Int64?
        var until: Instant
    }

    enum Reservation: UInt8, Sendable {
        case none
        /// Waits for its batch.
        case pending
        /// Durable: the attempt that it was made for may go.
        case granted
    }

    /// Names its mark; never used twice.
    let number: Int64
    let activity: Int
    let device: Int
    let incarnation: Int64
    /// Which card of the incarnation on this device (`ActivityReference`).
    let renewal: Int64
    let lane: LaneNumber
    /// What became of its events.
    var ledger: Ledger
    var phase = Phase.waiting
    var phaseSince: Instant
    /// Wall time of the card's beginning, as far as it is known: the system ends it 8 hours later.
    var cardSince: Instant?
    var echo = Echo()
    /// No channel was to be had for its card: an update token will do.
    var hasFallenBack = false
    /// A token of the device's budget for starts is paid for, and not spent.
    var holdsStartToken = false
    /// The update token, while there is one.
    var token: String?
    var tokenRegisteredAt = Instant.distantPast
    /// The token is not durable yet: nothing goes to it, for a later relay must know of every token
    /// that a push may have gone to.
    var tokenIsNew = false
    var pacing = PacingState()
    /// The newest version that Apple took, or that needs no push.
    var acknowledged: Int64 = 0
    /// Alerts up to this version were tried or have expired: durable before the try.
    var alertsThrough: Int64 = 0
    var contentHash: UInt64 = 0
    /// A state shared its second with another push: it goes once more with a newer one.
    var owesTrailing = false
    var inFlight: InFlight?
    /// Its last start, whose outcome may come late.
    var startPush: PushID?
    /// What `alertsThrough` was before it.
    var alertsBeforeStart: Int64 = 0
    var reservation = Reservation.none
    /// The alert that the pending reservation is for.
    var reservedAlert: Int64?
    /// It is for the start.
    var reservedStart = false
    /// A place in its lane is taken for what is reserved.
    var keepsPlace = false
    var isQueued = false
    var refusalsInRow = 0
    var frames = FrameCounts()
    @Seldom var cursor: FrameCursor?
    /// Of a clip that has ended with its activity: the clip's time that this phone keeps.
    var keptAt: Span?
    var waiting: Decision?
    @Seldom var lastDelivery: DeliveryView?
    /// The projection of an incarnation that a restart has left behind: its end is still to be
    /// delivered.
    @Seldom var final: Projection?
    /// The same, while the restart itself is not durable yet: it goes into the mark with it.
    @Seldom var nextFinal: Projection?
    /// How its incarnation ended was done with and is not remembered: `final` is a stand-in.
    var hasForgottenEnd = false
    var markIsDirty = true

    /// Whether nothing new will ever be sent to it again.
    var isFinished: Bool {
        switch phase {
        case .ended, .gone, .lapsed, .listening: true
        case .waiting, .starting, .startUnknown, .started, .live: false
        }
    }

    init(
        number: Int64, activity: Int, device: Int, incarnation: Int64, renewal: Int64 = 0,
        lane: LaneNumber, ledger: Ledger, phaseSince: Instant
    ) {
        self.number = number
        self.activity = activity
        self.device = device
        self.incarnation = incarnation
        self.renewal = renewal
        self.lane = lane
        self.ledger = ledger
        self.phaseSince = phaseSince
    }
}

/// How often the last change was sent once more without need (pacing rule 15): an accepted push is
/// no receipt.
package struct Echo: Hashable, Sendable {
    /// At most so many for each change.
    package static let countMax = 2

    /// The version that `count` is of.
    var version: Int64 = 0
    /// Of that version; `countMax` also where the phone has confirmed it.
    var count = 0
    /// The device's last sign of life since the last send, by steady time.
    var signAt: Instant?

    func count(of version: Int64) -> Int { self.version == version ? count : 0 }

    mutating func sent(_ version: Int64) {
        count = count(of: version) + 1
        self.version = version
        signAt = nil
    }

    /// The phone itself says that it shows it.
    mutating func confirmed(_ version: Int64) {
        self = Echo(version: version, count: Self.countMax)
    }
}

extension FrameCounts {
    static func + (one: FrameCounts, other: FrameCounts) -> FrameCounts {
        FrameCounts(
            asked: one.asked + other.asked, sent: one.sent + other.sent,
            merged: one.merged + other.merged, slowed: one.slowed + other.slowed,
            noRoute: one.noRoute + other.noRoute, hidden: one.hidden + other.hidden,
            paused: one.paused + other.paused, unchanged: one.unchanged + other.unchanged)
    }
}
