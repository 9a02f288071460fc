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

        var name: String {
            switch self {
            case .waiting: "waiting"
            case .starting: "starting"
            case .startUnknown: "start_unknown"
            case .started: "started"
            case .live: "live"
            case .ended: "ended"
            case .gone: "gone"
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
    let lane: LaneNumber
    /// What became of its events.
    var ledger: Ledger
    var phase = Phase.waiting
    var phaseSince: Instant
    /// The update token, while there is one.
    var token: String?
    var tokenRegisteredAt = Instant.distantPast
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
    var cursor: FrameCursor?
    /// Of a clip that has ended with its activity: the clip's time that this phone keeps.
    var keptAt: Span?
    var waiting: Decision?
    var lastDelivery: DeliveryView?
    /// The projection of an incarnation that a restart has left behind: its end is still to be
    /// delivered.
    var final: Projection?
    /// The same, while the restart itself is not durable yet: it goes into the mark with it.
    var nextFinal: Projection?
    /// How its incarnation ended was done with and is not remembered: `final` is a stand-in.
    var hasForgottenEnd = false
    var markIsDirty = true

    /// Whether nothing will ever be sent to it again.
    var isFinished: Bool { phase == .ended || phase == .gone }
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
