// Changes that an attempt makes to one destination.

extension Destination {
    /// Changes the phase; false if it already is the present one.
    mutating func enter(_ next: Phase, now: Instant) -> Bool {
        guard phase != next else { return false }
        phase = next
        phaseSince = now
        if next != .gone { (startWasRefused, startWasSkipped) = (false, false) }
        // The outcome of a start that has arrived need not be awaited any more.
        if next == .live || next == .started, inFlight?.event != .start {
            startPush = nil
            alertsBeforeStart = 0
        }
        return true
    }

    /// Notes that a start is sent.
    mutating func begin(_ push: PushID, now: Instant, wall: Instant) {
        phase = .starting
        phaseSince = now
        startPush = push
        isOverOnPhone = false
        alertsBeforeStart = alertsThrough
        cardSince = wall
    }

    /// Notes that an attempt waits for its batch.
    mutating func reserve(_ event: Push.Event, alert: Int64?) {
        reservation = .pending
        reservedAlert = alert
        reservedStart = event == .start
        markIsDirty = true
    }

    /// Clears the reservation.
    mutating func clearReservation() {
        if reservation != .none {
            reservation = .none
            reservedAlert = nil
            reservedStart = false
        }
        keepsPlace = false
    }

    /// True if the attempt is durable. Starts and alerts must be, so that neither is sent twice
    /// after a crash.
    ///
    /// - Parameter isPaid: true if the token of a start may still be spent.
    func isOnRecord(_ event: Push.Event, alert: Int64?, isPaid: Bool) -> Bool {
        guard event == .start || alert != nil else { return true }
        guard reservation == .granted, alert == nil || reservedAlert == alert else { return false }
        // On a slow disk a start's time may be over before it is durable.
        return event != .start || reservedStart && isPaid
    }

    /// True if an alert still has to ring here.
    func waits(for alert: Projection.PendingAlert) -> Bool {
        !isFinished && phase != .waiting && final == nil && alert.version > alertsThrough
    }

    /// When the stale date is renewed: when less than half of its time is left (rule 1).
    func staleRefresh(_ projection: Projection, at time: DeliveryTime) -> Instant? {
        guard let after = projection.staleAfter, pacing.lastSend != .distantPast else {
            return nil
        }
        let half = Span(nanoseconds: after.nanoseconds / 2)
        // The sent stale date may be lost, or may come from an earlier relay, so the accepted one
        // counts.
        return Instant.earlier(pacing.lastSend + half, staleAt.map { time.steady($0) - half })
    }

    /// When the newest state may have priority 10 because of its age (rule 7); nil if the phone has
    /// had all states at priority 10.
    func settlesAt(_ time: DeliveryTime, _ limits: Limits) -> Instant? {
        pacing.unsettledSince.map { time.steady($0) + limits.settle }
    }

    /// When the last accepted state is repeated (rule 15); nil: never.
    func echoDue(
        _ projection: Projection, at time: DeliveryTime, _ limits: Limits
    ) -> Instant? {
        guard acknowledged >= projection.version, token != nil,
            echo.count(of: projection.version) < Echo.countMax,
            pacing.lastSend != .distantPast
        else { return nil }
        // The next frame replaces a lost one, but a bundle is not followed by frames.
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

    /// Follows a wall clock that was set back.
    mutating func followClock(backBy step: Span) {
        if let since = pacing.unsettledSince { pacing.unsettledSince = since + step }
        if hasCursor { playing.followClock(by: step) }
    }

    /// Handles a corrected clock. The phone has dropped pushes with a timestamp too far ahead or
    /// more than a minute old, so the state must be sent again. Returns true if there is such a
    /// state.
    ///
    /// - Parameters:
    ///   - version: the newest version.
    ///   - wasBehind: true if the clock of the last push was behind.
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

    /// True if a waiting change is due or waits for its device.
    func isDue(now: Instant) -> Bool {
        guard case .deferred(let until, let hold)? = waiting else { return false }
        return hold.isOfDevice || until.map { $0 <= now } ?? false
    }

    /// Notes a push other than a frame as the last delivery.
    mutating func noteDelivery(_ flying: InFlight) {
        lastDelivery = DeliveryView(
            version: flying.version, route: flying.route, apnsID: flying.apnsID,
            priority: flying.priority, result: nil, took: .zero)
        lastDelivery?.isReserved = flying.reserve != nil
    }

    /// Notes a sign of life: earlier pushes may not have arrived.
    mutating func noteSignOfLife(now: Instant) {
        guard token != nil, pacing.lastSend < now else { return }
        if let sign = echo.signAt, sign > pacing.lastSend { return }
        echo.signAt = now
    }

    /// Whether its clip is over, and whether its frames are sent.
    func clipState(at wall: Instant) -> (isOver: Bool, isRunning: Bool) {
        guard hasCursor else { return (false, false) }
        return (playing.isOver(at: wall), playing.mode == .running)
    }

    /// True if its clip is sent as a bundle.
    var isBundle: Bool { hasCursor && playing.fit == .bundle }
}

/// One moment by both clocks.
struct DeliveryTime: Sendable {
    /// The monotonic time, for deadlines.
    let now: Instant
    /// How far the wall clock, for timestamps and records, is ahead of the monotonic clock.
    let lead: Span

    var wall: Instant { now + lead }

    /// The monotonic time at the wall time `wall`, at the present lead.
    func steady(_ wall: Instant) -> Instant { wall - lead }
}

extension Instant {
    /// The earlier one; the other if one is nil.
    static func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }
}
