// Values that few destinations have.

extension Destination {
    /// All these values together; an idle destination has none.
    struct Rare: Sendable {
        /// Its last start, whose outcome may come late.
        var startPush: PushID?
        /// The value of `alertsThrough` before that start.
        var alertsBeforeStart: Int64 = 0
        /// The alert of the pending reservation.
        var reservedAlert: Int64?
        var frames = FrameCounts()
        /// For a clip that ended with its activity: the clip's time that this phone keeps.
        var keptAt: Span?
        /// When the phone shows its state as stale, by the last accepted push.
        var staleAt: Instant?
        /// Hash of the visible part of the last accepted state, if not all of it is visible.
        var visibleHash: UInt64?
        /// A value that depends on the app's presence.
        var bound: BoundValue?
        /// True if the phone reports the card as ended or dismissed although the relay has not
        /// ended it. Later tokens are ignored.
        var isOverOnPhone = false
        /// Why the last push was not accepted.
        var failure: PushResult?
        /// The last state of an incarnation before a restart, whose end must still be delivered.
        @Seldom var final: Projection?
        /// The same until the restart is durable; it goes into the checkpoint with the restart.
        @Seldom var nextFinal: Projection?

        var hasFinal: Bool { _final.isThere }

        fileprivate var isEmpty: Bool {
            startPush == nil && alertsBeforeStart == 0 && reservedAlert == nil
                && frames == FrameCounts() && keptAt == nil && staleAt == nil
                && visibleHash == nil && bound == nil && !isOverOnPhone && failure == nil
                && final == nil
                && nextFinal == nil
        }
    }

    mutating func keep(_ change: (inout Rare) -> Void) {
        var rare = rare ?? Rare()
        change(&rare)
        self.rare = rare.isEmpty ? nil : rare
    }

    var startPush: PushID? {
        get { rare?.startPush }
        set { if newValue != rare?.startPush { keep { $0.startPush = newValue } } }
    }

    var alertsBeforeStart: Int64 {
        get { rare?.alertsBeforeStart ?? 0 }
        set { if newValue != alertsBeforeStart { keep { $0.alertsBeforeStart = newValue } } }
    }

    var reservedAlert: Int64? {
        get { rare?.reservedAlert }
        set { if newValue != rare?.reservedAlert { keep { $0.reservedAlert = newValue } } }
    }

    var frames: FrameCounts {
        get { rare?.frames ?? FrameCounts() }
        set { if newValue != frames { keep { $0.frames = newValue } } }
    }

    var keptAt: Span? {
        get { rare?.keptAt }
        set { if newValue != rare?.keptAt { keep { $0.keptAt = newValue } } }
    }

    var staleAt: Instant? {
        get { rare?.staleAt }
        set { if newValue != rare?.staleAt { keep { $0.staleAt = newValue } } }
    }

    var visibleHash: UInt64? {
        get { rare?.visibleHash }
        set { if newValue != rare?.visibleHash { keep { $0.visibleHash = newValue } } }
    }

    var bound: BoundValue? {
        get { rare?.bound }
        set { if newValue != nil || rare?.bound != nil { keep { $0.bound = newValue } } }
    }

    var isOverOnPhone: Bool {
        get { rare?.isOverOnPhone ?? false }
        set { if newValue != isOverOnPhone { keep { $0.isOverOnPhone = newValue } } }
    }

    var final: Projection? {
        get { rare?.final }
        set { if newValue != nil || rare?.final != nil { keep { $0.final = newValue } } }
    }

    /// True if its card is not for its device's user: it ends without content.
    var hasBareEnd: Bool { hasFinal && final?.ending?.isBare == true }

    var nextFinal: Projection? {
        get { rare?.nextFinal }
        set { if newValue != nil || rare?.nextFinal != nil { keep { $0.nextFinal = newValue } } }
    }
}

/// A compact `DeliveryView`; the reason of a failure is stored elsewhere.
struct LastPush: Sendable {
    private enum Standing: UInt8 { case inFlight, accepted, failed }

    private let apnsID: APNsID
    private let version: Int64
    private let tookMicroseconds: UInt32
    private let priority: UInt8
    private let route: DeliveryView.Route
    private let standing: Standing
    private let isReserved: Bool

    init(_ view: DeliveryView) {
        apnsID = view.apnsID
        version = view.version
        tookMicroseconds = UInt32(clamping: view.took.nanoseconds / 1_000)
        priority = view.priority
        route = view.route
        isReserved = view.isReserved
        standing =
            switch view.result {
            case nil: .inFlight
            case .accepted: .accepted
            case .rejected, .notSent, .unknown: .failed
            }
    }

    func view(failure: PushResult?) -> DeliveryView {
        var view = DeliveryView(
            version: version, route: route, apnsID: apnsID, priority: priority,
            result: standing == .inFlight ? nil : standing == .accepted ? .accepted : failure,
            took: Span(nanoseconds: Int64(tookMicroseconds) * 1_000))
        view.isReserved = isReserved
        return view
    }
}
