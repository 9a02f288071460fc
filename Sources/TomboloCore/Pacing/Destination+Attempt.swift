// What an attempt changes at its destination.

extension Destination {
    /// Changes the phase. Returns false if the destination is in this phase already.
    mutating func enter(_ next: Phase, now: Instant) -> Bool {
        guard phase != next else { return false }
        phase = next
        phaseSince = now
        if next != .gone { (self[.startWasRefused], self[.startWasSkipped]) = (false, false) }
        // The card has begun, so a late outcome of its start does not matter any more.
        if next == .live || next == .started, inFlight?.event != .start {
            startPush = nil
            alertsBeforeStart = 0
        }
        return true
    }

    /// Notes that a start is being sent.
    mutating func begin(_ push: PushID, now: Instant) {
        phase = .starting
        phaseSince = now
        startPush = push
        isOverOnPhone = false
        alertsBeforeStart = alertsThrough
        cardSince = now
    }

    /// Notes that an attempt waits until its batch is durable.
    mutating func reserve(_ event: Push.Event, alert: Int64?) {
        reservation = .pending
        reservedAlert = alert
        self[.reservedStart] = event == .start
        self[.checkpointIsDirty] = true
    }

    mutating func clearReservation() {
        if reservation != .none {
            reservation = .none
            reservedAlert = nil
            self[.reservedStart] = false
        }
        self[.keepsPlace] = false
    }

    /// True if the attempt may be sent: a start or an alert must be durable first, so that it is
    /// not sent twice after a crash.
    ///
    /// - Parameter isPaid: true if the token that is reserved for the start is still valid.
    func isOnRecord(_ event: Push.Event, alert: Int64?, isPaid: Bool) -> Bool {
        guard event == .start || alert != nil else { return true }
        guard reservation == .granted, alert == nil || reservedAlert == alert else { return false }
        // On a slow disk, the reserved token may expire before the start is durable.
        return event != .start || self[.reservedStart] && isPaid
    }

    /// True if this destination still has to send the alert.
    func waits(for alert: Projection.PendingAlert) -> Bool {
        !isFinished && phase != .waiting && final == nil && alert.version > alertsThrough
    }

    /// When the phone gets a later stale date (rule 1): the producer repeated itself, and less than
    /// half of the time is left. Nil if the phone has the date of the producer's last event.
    func staleRefresh(_ projection: Projection, at time: DeliveryTime) -> Instant? {
        guard let after = projection.staleAfter, let date = projection.staleDate,
            pacing.lastSend != .distantPast
        else { return nil }
        let half = Span(nanoseconds: after.nanoseconds / 2)
        guard let shown = staleAt else { return pacing.lastSend + half }
        return date > shown ? time.steady(shown) - half : nil
    }

    /// When the newest state may have priority 10 because it was sent at priority 5 for long (rule
    /// 7); nil if the phone has had all states at priority 10.
    func settlesAt(_ time: DeliveryTime, _ limits: Limits) -> Instant? {
        pacing.unsettledSince.map { time.steady($0) + limits.settle }
    }

    /// The wish for the newest state: of high urgency too if the phone has had states at priority 5
    /// for long (rule 7).
    func latestWish(_ urgency: Urgency, at time: DeliveryTime, _ limits: Limits) -> Wish {
        let isOld = settlesAt(time, limits).map { $0 <= time.now } ?? false
        return .latest(isOld ? .high : urgency)
    }

    /// When the last accepted state is repeated (rule 15); nil: it is not repeated.
    func echoDue(
        _ projection: Projection, at time: DeliveryTime, _ limits: Limits
    ) -> Instant? {
        guard acknowledged >= projection.version, token != nil,
            echo.count(of: projection.version) < Echo.countMax,
            pacing.lastSend != .distantPast
        else { return nil }
        // The next frame replaces a lost one. After a bundle no frame follows.
        if projection.ending == nil, hasCursor, playing.mode == .running,
            !playing.isOver(at: time.wall), playing.fit != .bundle
        {
            return nil
        }
        let quiet = time.steady(projection.changedAt + limits.echoAfter)
        let due = pacing.lastSend < quiet ? quiet : nil
        guard let sign = echo.signAt, sign > pacing.lastSend else { return due }
        return Instant.earlier(due, max(sign, pacing.lastSend + limits.echoGrace))
    }

    /// Corrects stored times after the wall clock was set back.
    mutating func followClock(backBy step: Span) {
        if let since = pacing.unsettledSince { pacing.unsettledSince = since + step }
        if hasCursor { playing.followClock(by: step) }
    }

    /// Handles a corrected clock. A phone drops a push whose timestamp is too far ahead or more
    /// than a minute old, so such a state must be sent again. Returns true if there is one.
    ///
    /// - Parameters:
    ///   - version: the newest version; nil if there is no state.
    ///   - wasBehind: true if the clock was behind when the last push was sent.
    mutating func sendsAgain(
        _ version: Int64?, at time: DeliveryTime, wasBehind: Bool = false
    ) -> Bool {
        let wasAhead = pacing.taken.forget(aheadOf: time.wall)
        let sentAt = (pacing.lastSend + time.lead - RelayClock.leadMax).seconds
        let wasOld = pacing.lastSend != .distantPast && pacing.taken.latest < sentAt
        guard wasAhead || wasOld || wasBehind, let version, !isFinished else { return false }
        acknowledged = min(acknowledged, version - 1)
        contentHash = 0
        return true
    }

    /// True if the destination waits, and its time has come or it waits for its device's budget.
    func isDue(now: Instant) -> Bool {
        guard case .deferred(let until, let reason)? = waiting else { return false }
        return reason.isOfDevice || until.map { $0 <= now } ?? false
    }

    /// Stores a push, other than a frame, as the last delivery.
    mutating func noteDelivery(_ flying: InFlight) {
        lastDelivery = DeliveryView(
            version: flying.version, route: flying.route, apnsID: flying.apnsID,
            priority: flying.priority, result: nil, took: .zero)
        lastDelivery?.isReserved = flying.reserve != nil
    }

    /// Notes that the phone is reachable again: earlier pushes may not have arrived.
    mutating func noteSignOfLife(now: Instant) {
        guard token != nil, pacing.lastSend < now else { return }
        if let sign = echo.signAt, sign > pacing.lastSend { return }
        echo.signAt = now
    }

    /// Whether the clip is over, and whether its frames are sent.
    func clipState(at wall: Instant) -> (isOver: Bool, isRunning: Bool) {
        guard hasCursor else { return (false, false) }
        return (playing.isOver(at: wall), playing.mode == .running)
    }

    var isBundle: Bool { hasCursor && playing.fit == .bundle }
}

/// One instant by both clocks.
struct DeliveryTime: Sendable {
    /// The monotonic time, for deadlines.
    let now: Instant
    /// How far the wall clock, for timestamps and records, is ahead of the monotonic clock.
    let lead: Span

    var wall: Instant { now + lead }

    /// The monotonic time of a wall time, by the present lead.
    func steady(_ wall: Instant) -> Instant { wall - lead }
}

extension Instant {
    /// The earlier of two times; if one is nil, the other.
    static func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }
}
