/// The kind of push that is wanted. The pacer decides by it.
package enum Wish: Hashable, Sendable {
    case start
    /// A change with an alert.
    case must
    case end
    case latest(Urgency)
    /// Repeats a state that had to share its second with another push (rule 6).
    case trailing
    /// Repeats the state or the end, in case the phone has not got it (rule 15).
    case echo
    /// Repeats the state with the later stale date of a producer that repeated itself (rule 1).
    case refresh
    /// Sends the newest state at priority 10, because a locked phone delays priority 5 (rule 7).
    case settle
    case frame
}

/// What the pacer answers to a wish.
package enum Turn: Hashable, Sendable {
    case send(priority: UInt8, timestamp: Int64)
    /// A token of the bucket must be reserved and durable first; then ask again.
    case reserve
    case wait(until: Instant, WaitReason)
}

/// What one destination has spent, and the rules by which it may send more (pacing rules 1 to 7).
///
/// It uses two clocks: monotonic time for spacings and buckets, wall time for timestamps. Both are
/// parameters.
package struct PacingState: Hashable, Sendable {
    /// A timestamp may be at most this many seconds ahead of the wall clock (rule 6).
    package static let timestampLeadMax: Int64 = 2

    package var lastSend = Instant.distantPast
    package var lastLowPrioritySend = Instant.distantPast
    package var bucket = TokenBucket()
    package private(set) var backOffUntil = Instant.distantPast
    /// Why nothing is sent until `backOffUntil`.
    private var backOffCause = WaitReason.tokenBackOff
    package var taken = TakenTimestamps()
    private var lastLocalSecond: UInt32 = 0
    private var unsettledSecond: UInt32 = 0
    /// True if a token is reserved, durable, and not spent. A failed attempt gives its token back.
    package var holdsToken = false

    package init() {}

    /// When the app last updated its card itself, in whole Unix seconds; 0: never. It ends in 2106.
    package var lastLocalUpdate: Int64 {
        get { Int64(lastLocalSecond) }
        set { lastLocalSecond = UInt32(clamping: newValue) }
    }

    /// Wall time, in whole seconds, since which the phone has had changes at priority 5 only; nil
    /// if Apple has accepted no such change since the last push at priority 10.
    package var unsettledSince: Instant? {
        get { unsettledSecond == 0 ? nil : Instant(seconds: Int64(unsettledSecond)) }
        set { unsettledSecond = UInt32(clamping: newValue?.seconds ?? 0) }
    }

    /// How long nothing is sent after a refusal: 1 s, doubled for each refusal before it in a row,
    /// at most 5 min.
    static func backOff(after refusals: Int) -> Span {
        min(.minutes(5), .seconds(1 << Int64(min(refusals, 9))))
    }

    mutating func backOff(until end: Instant, because cause: WaitReason) {
        (backOffUntil, backOffCause) = (end, cause)
    }

    /// Ends the back-off, because its reason does not hold any more.
    mutating func endBackOff() { backOffUntil = .distantPast }

    /// Whether a wish may be sent now and how, or when to ask again.
    ///
    /// - Parameter device: what the device has spent, and its grant, if it has one. Both budgets
    ///   must allow the push.
    package func turn(
        _ wish: Wish, _ grant: Grant, device: (spent: DeviceBudget, grant: Grant)? = nil,
        now: Instant, wall: Instant
    ) -> Turn {
        if backOffUntil > now { return .wait(until: backOffUntil, backOffCause) }
        if wish == .end { return end(wall: wall) }
        let timestamp = timestamp(wish, grant, now: now, wall: wall)
        var floor = Self.latest(
            (lastSend + grant.spacing, .spacing),
            timestampTurn(timestamp, now: now, wall: wall))
        var high = highPriorityTime(wish, grant, in: bucket, now: now)
            .map { ($0, WaitReason.bucket) }
        var low = (lastLowPrioritySend + grant.lowPrioritySpacing, WaitReason.lowPrioritySpacing)
        if let (spent, grant) = device {
            floor = Self.latest(floor, (spent.lastSend + grant.spacing, .deviceSpacing))
            low = Self.latest(
                low,
                (spent.lastLowPrioritySend + grant.lowPrioritySpacing, .deviceLowPrioritySpacing))
            let own = highPriorityTime(wish, grant, in: spent.bucket, now: now)
            high = high.flatMap { high in own.map { Self.latest(high, ($0, .deviceBucket)) } }
        }
        high = high.map { Self.latest(floor, $0) }
        low = Self.latest(floor, low)
        if let high, high.0 <= now {
            let paid = grant.perHour == nil || hasPaid(grant, now: now)
            return paid ? .send(priority: 10, timestamp: timestamp) : .reserve
        }
        let goesLow = mayGoLow(wish, grant)
        if goesLow, low.0 <= now { return .send(priority: 5, timestamp: timestamp) }
        let next = goesLow ? high.map { $0.0 < low.0 ? $0 : low } ?? low : high ?? low
        return .wait(until: next.0, next.1)
    }

    /// When a push with this timestamp may be sent. If the timestamp is one second after the last
    /// push's, and ahead of the clock, that is one second after that push. If a local update of the
    /// app is ahead, the wait is at most a minute.
    private func timestampTurn(
        _ timestamp: Int64, now: Instant, wall: Instant
    ) -> (Instant, WaitReason) {
        let wait = Instant(seconds: timestamp - Self.timestampLeadMax) - wall
        let passed = timestamp - taken.counting(at: wall)
        guard wait > .zero, passed <= 1 else { return (now + wait, .nextSecond) }
        return (passed == 1 ? lastSend + .seconds(1) : now, .nextSecond)
    }

    /// When a wish may have priority 10 by both budgets; nil: never.
    package func highPriorityTime(
        _ wish: Wish, _ grant: Grant, device: (spent: DeviceBudget, grant: Grant)?, now: Instant
    ) -> Instant? {
        let own = highPriorityTime(wish, grant, in: bucket, now: now)
        guard let (spent, nested) = device else { return own }
        return own.flatMap { own in
            highPriorityTime(wish, nested, in: spent.bucket, now: now).map { max(own, $0) }
        }
    }

    /// Notes that a push is sent. Returns true if it took a token, which it gives back if it fails.
    package mutating func sent(
        priority: UInt8, timestamp: Int64, _ grant: Grant, now: Instant
    ) -> Bool {
        lastSend = now
        taken.note(timestamp)
        guard priority == 10 else {
            lastLowPrioritySend = now
            return false
        }
        guard grant.perHour != nil else { return false }
        if !hasPaid(grant, now: now) { bucket.take(grant, now: now) }
        holdsToken = false
        return true
    }

    /// True if a token is reserved and may still be spent.
    package func hasPaid(_ grant: Grant, now: Instant) -> Bool {
        holdsToken && bucket.covers(grant, now: now)
    }

    /// Reserves a token, which must be durable before it is spent. The bucket counts it as taken a
    /// little later than now, and it may be spent until then. If a token were spent later still,
    /// the bucket would have refilled meanwhile, and the burst would be exceeded; so on a slow disk
    /// the token is reserved again.
    package mutating func reserve(_ grant: Grant, now: Instant) {
        guard grant.perHour != nil else { return }
        if holdsToken {
            guard !bucket.covers(grant, now: now) else { return }
            bucket.renew(grant, until: now + Self.slowReservation, now: now)
        } else {
            bucket.take(grant, now: now + TokenBucket.reservation)
        }
        holdsToken = true
    }

    /// How long a token that was reserved again may be spent.
    static let slowReservation = Span.seconds(30)

    /// Restores the pacing after a restart. The checkpoint may be old: the last push may have been
    /// sent until now and, after a crash, with the highest timestamp that the last relay could use.
    ///
    /// - Parameters:
    ///   - before: the last relay's clock; nil if certainly nothing was sent after the checkpoint.
    ///   - last: when the last push went that is on record; `distantPast`: not known.
    package mutating func recover(
        _ grant: Grant, after before: RelayClock.Predecessor?, last: Instant = .distantPast,
        now: Instant, wall: Instant
    ) {
        lastSend = now
        lastLowPrioritySend = now
        bucket.clamp(grant, now: now)
        holdsToken = false
        guard let before, !before.endedInOrder else { return }
        // A push to a card that is ahead of the clock advances its timestamp by one second, at most
        // once a second. So it never comes further ahead: many kills in a row add nothing.
        let known = taken
        let more = before.unrecorded(since: last)
        for clock in [wall, before.reading] {
            let counting = known.counting(at: clock)
            let newest = (Instant(seconds: counting) + more).seconds
            if counting > 0, newest > clock.seconds { taken.note(newest) }
        }
        let told = before.toldThrough.seconds + Self.timestampLeadMax
        if told > taken.counting(at: before.toldThrough) { taken.note(told) }
    }

    /// Restores what was sent to a card before its device was deleted and registered again.
    mutating func recall(
        bucketFullAt: Instant, lastTimestamp last: Int64, _ grant: Grant, now: Instant
    ) {
        (lastSend, lastLowPrioritySend) = (now, now)
        if last > taken.latest { taken.note(last) }
        if bucketFullAt > bucket.fullAt { bucket = TokenBucket(fullAt: bucketFullAt, of: grant) }
        bucket.clamp(grant, now: now)
    }

    /// An end waits for no bucket and no spacing, and always has priority 10: at 5 a locked phone
    /// would delay it, and the card would stay visible. It may have the same second as the last
    /// push, because nothing follows it.
    private func end(wall: Instant) -> Turn {
        let next = next(wall: wall)
        let ahead = taken.counting(at: wall)
        let most = wall.seconds + Self.timestampLeadMax
        let fits = next.own <= (ahead > most ? ahead + 1 : most)
        return .send(priority: 10, timestamp: fits ? next.own : next.shared)
    }

    /// The timestamp for a wish: later than the last one. If the class has no spacing, frames may
    /// have the same second, and so may states that would be too far ahead.
    private func timestamp(
        _ wish: Wish, _ grant: Grant, now: Instant, wall: Instant
    ) -> Int64 {
        let next = next(wall: wall)
        guard grant.spacing < .seconds(1), wish != .trailing else { return next.own }
        if wish == .frame { return next.shared }
        let fits =
            next.own <= wall.seconds + Self.timestampLeadMax
            || next.own == taken.counting(at: wall) + 1 && lastSend + .seconds(1) <= now
        return fits ? next.own : next.shared
    }

    /// The lowest timestamps that a phone accepts: `own` is later than the last one, `shared` may
    /// be equal. A local update that is more than a minute ahead counts as now.
    private func next(wall: Instant) -> (own: Int64, shared: Int64) {
        let taken = taken.counting(at: wall)
        let isFar = Instant(seconds: lastLocalUpdate) > wall + .minutes(1)
        let local = isFar ? wall.seconds : lastLocalUpdate
        return (max(wall.seconds, taken + 1, local + 1), max(wall.seconds, taken, local))
    }

    /// When a wish may have priority 10 by one bucket (rule 7); nil: never.
    private func highPriorityTime(
        _ wish: Wish, _ grant: Grant, in bucket: TokenBucket, now: Instant
    ) -> Instant? {
        if grant.perHour == nil { return mayGoLow(wish, grant) ? nil : now }
        let kept: Int64
        switch wish {
        case .frame, .trailing, .echo, .refresh, .latest(.low): return nil
        case .latest(.normal): kept = max(grant.reserve, grant.burst / 2)
        case .latest(.high), .settle: kept = grant.reserve
        case .start, .must, .end: kept = 0
        }
        if holdsToken { return now }
        guard let time = bucket.time(keeping: kept, of: grant, now: now), kept > 0 else {
            return bucket.time(keeping: kept, of: grant, now: now)
        }
        // Only the relay keeps these tokens back, so the time for a reservation need not be added.
        return max(now, time - TokenBucket.reservation)
    }

    /// True if the wish may have priority 5. If no bucket limits the pushes, only unimportant ones
    /// have it. A start never has it.
    private func mayGoLow(_ wish: Wish, _ grant: Grant) -> Bool {
        switch wish {
        case .start, .settle: false
        case .echo, .refresh, .latest(.low): true
        case .must, .end, .latest, .trailing, .frame: grant.perHour != nil
        }
    }

    private static func latest(
        _ one: (Instant, WaitReason), _ other: (Instant, WaitReason)
    ) -> (Instant, WaitReason) {
        other.0 > one.0 ? other : one
    }
}
