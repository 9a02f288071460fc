// What an attempt changes at a destination alone.

extension Destination {
    /// Goes from one phase to another; false where it is in it already.
    mutating func enter(_ next: Phase, now: Instant) -> Bool {
        guard phase != next else { return false }
        phase = next
        phaseSince = now
        if next != .gone { (startWasRefused, startWasSkipped) = (false, false) }
        // What was kept for the outcome of a start that has come is kept no longer.
        if next == .live || next == .started, inFlight?.event != .start {
            startPush = nil
            alertsBeforeStart = 0
        }
        return true
    }

    /// A start goes.
    mutating func begin(_ push: PushID, now: Instant, wall: Instant) {
        phase = .starting
        phaseSince = now
        startPush = push
        isOverOnPhone = false
        alertsBeforeStart = alertsThrough
        cardSince = wall
    }

    /// An attempt waits for its batch.
    mutating func reserve(_ event: Push.Event, alert: Int64?) {
        reservation = .pending
        reservedAlert = alert
        reservedStart = event == .start
        markIsDirty = true
    }

    /// Forgets what was reserved.
    mutating func clearReservation() {
        if reservation != .none {
            reservation = .none
            reservedAlert = nil
            reservedStart = false
        }
        keepsPlace = false
    }

    /// Whether the attempt is on record: a start and an alert are, before they are tried. After a
    /// crash neither goes a second time.
    ///
    /// - Parameter isPaid: whether the token of a start may still be spent.
    func isOnRecord(_ event: Push.Event, alert: Int64?, isPaid: Bool) -> Bool {
        guard event == .start || alert != nil else { return true }
        guard reservation == .granted, alert == nil || reservedAlert == alert else { return false }
        // On a slow disk a start's time may be over before it is on record.
        return event != .start || reservedStart && isPaid
    }

    /// Whether an alert is still to ring here.
    func waits(for alert: Projection.PendingAlert) -> Bool {
        !isFinished && phase != .waiting && final == nil && alert.version > alertsThrough
    }

    /// When the stale date is moved on: with less than half of its time left (rule 1).
    func staleRefresh(_ projection: Projection, at time: DeliveryTime) -> Instant? {
        guard let after = projection.staleAfter, pacing.lastSend != .distantPast else {
            return nil
        }
        let half = Span(nanoseconds: after.nanoseconds / 2)
        // What the phone was sent may be lost, or be a relay's before this one: what it took
        // counts.
        return Instant.earlier(pacing.lastSend + half, staleAt.map { time.steady($0) - half })
    }

    /// When the newest state may go at priority 10 for its age alone (rule 7); nil where all that
    /// the phone was sent went so.
    func settlesAt(_ time: DeliveryTime, _ limits: Limits) -> Instant? {
        pacing.unsettledSince.map { time.steady($0) + limits.settle }
    }

    /// When what Apple took last is due once more (rule 15); nil for never.
    func echoDue(
        _ projection: Projection, at time: DeliveryTime, _ limits: Limits
    ) -> Instant? {
        guard acknowledged >= projection.version, token != nil,
            echo.count(of: projection.version) < Echo.countMax,
            pacing.lastSend != .distantPast
        else { return nil }
        // Frames follow one another: one that was lost is made good by the next. A bundle is all
        // there is.
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

    /// The wall clock was set back, and the relay follows it.
    mutating func followClock(backBy step: Span) {
        if let since = pacing.unsettledSince { pacing.unsettledSince = since + step }
        if hasCursor { playing.followClock(by: step) }
    }

    /// The clock was wrong, and is set right. What went with a timestamp too far ahead, or more
    /// than a minute old, was dropped by its phone: the state goes once more. Answers whether there
    /// is such a state.
    ///
    /// - Parameters:
    ///   - version: the newest.
    ///   - wasBehind: the clock by which the last push went was behind.
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

    /// Whether what waits here is due, or waits for its device.
    func isDue(now: Instant) -> Bool {
        guard case .deferred(let until, let hold)? = waiting else { return false }
        return hold.isOfDevice || until.map { $0 <= now } ?? false
    }

    /// A push goes that is no frame: it is the last delivery.
    mutating func noteDelivery(_ flying: InFlight) {
        lastDelivery = DeliveryView(
            version: flying.version, route: flying.route, apnsID: flying.apnsID,
            priority: flying.priority, result: nil, took: .zero)
        lastDelivery?.isReserved = flying.reserve != nil
    }

    /// Its device gives a sign of life: what was sent before may not have arrived.
    mutating func noteSignOfLife(now: Instant) {
        guard token != nil, pacing.lastSend < now else { return }
        if let sign = echo.signAt, sign > pacing.lastSend { return }
        echo.signAt = now
    }

    /// Whether its clip is over, and whether its frames go.
    func clipState(at wall: Instant) -> (isOver: Bool, isRunning: Bool) {
        guard hasCursor else { return (false, false) }
        return (playing.isOver(at: wall), playing.mode == .running)
    }

    /// Whether its clip goes as a bundle.
    var isBundle: Bool { hasCursor && playing.fit == .bundle }
}

/// One moment by both clocks.
struct DeliveryTime: Sendable {
    /// By the steady clock, which deadlines go by.
    let now: Instant
    /// The wall clock, which timestamps and records go by, is ahead of the steady one by this.
    let lead: Span

    var wall: Instant { now + lead }

    /// When the steady clock shows what the wall clock shows at `wall`, as both go now.
    func steady(_ wall: Instant) -> Instant { wall - lead }
}

extension Instant {
    /// The earlier of two, where both are there.
    static func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
        guard let one, let other else { return one ?? other }
        return min(one, other)
    }
}
