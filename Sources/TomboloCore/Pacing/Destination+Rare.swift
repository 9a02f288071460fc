// Values that few destinations have.

extension Destination {
    /// These values together. A destination at rest has no `Rare`.
    struct Rare: Sendable {
        /// The last start, whose outcome may come late.
        var startPush: PushID?
        /// The value of `alertsThrough` before that start.
        var alertsBeforeStart: Int64 = 0
        /// The alert of the pending reservation.
        var reservedAlert: Int64?
        var frames = FrameCounts()
        /// The frame that the phone keeps of a clip that played when the activity ended, as the
        /// clip's time.
        var keptAt: Span?
        /// When the phone shows its state as stale, according to the last accepted push.
        var staleAt: Instant?
        /// Hash of the visible part of the last accepted state; nil if no part is hidden.
        var visibleHash: UInt64?
        /// The value that depends on the app's presence.
        var bound: BoundValue?
        /// True if the phone has reported that the card is over although the relay has not ended
        /// it. Later tokens of the card are ignored.
        var isOverOnPhone = false
        /// Why the last push failed.
        var failure: PushResult?
        /// The last state of an earlier incarnation, which must still be sent.
        @Seldom var final: Projection?
        /// The same before the new start is durable. The checkpoint contains it together with that
        /// start.
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

    /// True if the card ends without content, because it does not belong to the device's user.
    var hasBareEnd: Bool { hasFinal && final?.ending?.isBare == true }

    var nextFinal: Projection? {
        get { rare?.nextFinal }
        set { if newValue != nil || rare?.nextFinal != nil { keep { $0.nextFinal = newValue } } }
    }
}

/// A compact `DeliveryView`. `Rare.failure` has the reason of a failure.
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
