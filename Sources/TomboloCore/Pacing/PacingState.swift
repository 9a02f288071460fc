/// The kind of a push that is wanted, by which the pacer weighs it.
package enum Wish: Hashable, Sendable {
    case start
    /// Anything else with an alert.
    case must
    case end
    case latest(Urgency)
    /// The last state again, with a second of its own, because it had to share one (rule 6).
    case trailing
    /// The state or the end again at priority 5, in case the phone never got it (rule 15).
    case echo
    /// The newest state at priority 10, because a locked phone defers priority 5 (rule 7).
    case settle
    case frame
}

/// The pacer's answer to a wish.
package enum Turn: Hashable, Sendable {
    case send(priority: UInt8, timestamp: Int64)
    /// A token of the bucket must be durable first; ask again then.
    case reserve
    case wait(until: Instant, Hold)
}

/// What one destination has spent, and the rules by which it may spend more (pacing rules 1 to 7).
///
/// Pure. It takes time in two forms: monotonic time for spacings and buckets, wall time for
/// timestamps.
package struct PacingState: Hashable, Sendable {
    /// A timestamp is at most this far ahead of the clock (rule 6).
    package static let timestampLeadMax: Int64 = 2

    package var lastSend = Instant.distantPast
    package var lastLowPrioritySend = Instant.distantPast
    package var bucket = TokenBucket()
    package private(set) var backOffUntil = Instant.distantPast
    /// The wait reason of the back-off, by Apple's last answer.
    private var backOffCause = Hold.tokenBackOff
    package var taken = TakenTimestamps()
    private var lastLocalSecond: UInt32 = 0
    private var unsettledSecond: UInt32 = 0
    /// A token is durably paid for and not spent. An attempt that did not count gives it back.
    package var holdsToken = false

    package init() {}

    /// Whole Unix seconds of the app's own last update, to the year 2106; 0 for none.
    package var lastLocalUpdate: Int64 {
        get { Int64(lastLocalSecond) }
        set { lastLocalSecond = UInt32(clamping: newValue) }
    }

    /// Wall time, in whole seconds, of the first change that Apple took at priority 5 since it last
    /// took one at 10; nil if there is none.
    package var unsettledSince: Instant? {
        get { unsettledSecond == 0 ? nil : Instant(seconds: Int64(unsettledSecond)) }
        set { unsettledSecond = UInt32(clamping: newValue?.seconds ?? 0) }
    }

    /// How long nothing is sent, by the refusals in a row before this one: 1 s, doubling to 5 min.
    static func backOff(after refusals: Int) -> Span {
        min(.minutes(5), .seconds(1 << Int64(min(refusals, 9))))
    }

    /// Sends nothing until `end`, for this wait reason.
    mutating func backOff(until end: Instant, because cause: Hold) {
        (backOffUntil, backOffCause) = (end, cause)
    }

    /// The reason of the back-off is over.
    mutating func endBackOff() { backOffUntil = .distantPast }

    /// Whether a wish may be fulfilled now and how, or when to ask again.
    ///
    /// - Parameter device: what its device has spent, and the device's grant: both grants count.
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
            .map { ($0, Hold.bucket) }
        var low = (lastLowPrioritySend + grant.lowPrioritySpacing, Hold.lowPrioritySpacing)
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

    /// When a timestamp may be sent. If it is ahead of the clock, and the last push's was too, it
    /// is sent a second after that one. If a local update is ahead, the wait is a minute at most.
    private func timestampTurn(
        _ timestamp: Int64, now: Instant, wall: Instant
    ) -> (Instant, Hold) {
        let wait = Instant(seconds: timestamp - Self.timestampLeadMax) - wall
        let passed = timestamp - taken.counting(at: wall)
        guard wait > .zero, passed <= 1 else { return (now + wait, .nextSecond) }
        return (passed == 1 ? lastSend + .seconds(1) : now, .nextSecond)
    }

    /// When priority 10 is open to a wish; nil for never.
    package func highPriorityTime(
        _ wish: Wish, _ grant: Grant, device: (spent: DeviceBudget, grant: Grant)?, now: Instant
    ) -> Instant? {
        let own = highPriorityTime(wish, grant, in: bucket, now: now)
        guard let (spent, nested) = device else { return own }
        return own.flatMap { own in
            highPriorityTime(wish, nested, in: spent.bucket, now: now).map { max(own, $0) }
        }
    }

    /// Notes a send attempt. Returns `tokenTaken`, for the case that the attempt turns out not to
    /// count.
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

    /// Whether a token is held that may still be spent.
    package func hasPaid(_ grant: Grant, now: Instant) -> Bool {
        holdsToken && bucket.covers(grant, now: now)
    }

    /// Takes a token that is to be durable before it is spent. It is paid for as if it were spent a
    /// little later, and may be spent until then. A token kept for longer, while the bucket
    /// refilled, would exceed the burst; so it is paid for anew if the disk is slow.
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

    /// How long a token may be spent after it was too old and was paid for anew.
    static let slowReservation = Span.seconds(30)

    /// After a restart. The checkpoint may be old, so the destination counts as having just sent;
    /// after a kill, with the highest timestamp that it can have used.
    ///
    /// - Parameter before: the clock of the relay before; nil if surely nothing was sent since the
    ///   checkpoint.
    package mutating func recover(
        _ grant: Grant, after before: RelayClock.Predecessor?, now: Instant, wall: Instant
    ) {
        lastSend = now
        lastLowPrioritySend = now
        bucket.clamp(grant, now: now)
        holdsToken = false
        guard let before, !before.endedInOrder else { return }
        // A card ahead of the clock continued there, by a second for each push. Its checkpoint may
        // be some seconds older than the reading.
        let passed = before.toldThrough - before.reading
        let known = taken
        for clock in [wall, before.reading] {
            let counting = known.counting(at: clock)
            guard counting > clock.seconds else { continue }
            taken.note((Instant(seconds: counting) + passed).seconds + 3)
        }
        let told = before.toldThrough.seconds + Self.timestampLeadMax
        if told > taken.counting(at: before.toldThrough) { taken.note(told) }
    }

    /// The device has come back: what was sent to its card before still counts.
    mutating func recall(
        bucketFullAt: Instant, lastTimestamp last: Int64, _ grant: Grant, now: Instant
    ) {
        (lastSend, lastLowPrioritySend) = (now, now)
        if last > taken.latest { taken.note(last) }
        if bucketFullAt > bucket.fullAt { bucket = TokenBucket(fullAt: bucketFullAt, of: grant) }
        bucket.clamp(grant, now: now)
    }

    /// `end` waits for no bucket and no spacing, and has priority 10 even if the bucket is empty:
    /// at 5 it would wait on a locked phone while the card stays visible. It may share its second,
    /// because nothing follows it.
    private func end(wall: Instant) -> Turn {
        let next = next(wall: wall)
        let ahead = taken.counting(at: wall)
        let most = wall.seconds + Self.timestampLeadMax
        let fits = next.own <= (ahead > most ? ahead + 1 : most)
        return .send(priority: 10, timestamp: fits ? next.own : next.shared)
    }

    /// Strictly newer than the last timestamp, except in a class without spacing. There frames
    /// share a second, and so do states once the lead is used up.
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

    /// The least timestamps that a phone takes: a second of its own, or the last push's. A local
    /// update more than a minute ahead counts as now.
    private func next(wall: Instant) -> (own: Int64, shared: Int64) {
        let taken = taken.counting(at: wall)
        let isFar = Instant(seconds: lastLocalUpdate) > wall + .minutes(1)
        let local = isFar ? wall.seconds : lastLocalUpdate
        return (max(wall.seconds, taken + 1, local + 1), max(wall.seconds, taken, local))
    }

    /// When priority 10 is open to the wish (rule 7); nil for never.
    private func highPriorityTime(
        _ wish: Wish, _ grant: Grant, in bucket: TokenBucket, now: Instant
    ) -> Instant? {
        if grant.perHour == nil { return mayGoLow(wish, grant) ? nil : now }
        let kept: Int64
        switch wish {
        case .frame, .trailing, .echo, .latest(.low): return nil
        case .latest(.normal): kept = max(grant.reserve, grant.burst / 2)
        case .latest(.high), .settle: kept = grant.reserve
        case .start, .must, .end: kept = 0
        }
        if holdsToken { return now }
        guard let time = bucket.time(keeping: kept, of: grant, now: now), kept > 0 else {
            return bucket.time(keeping: kept, of: grant, now: now)
        }
        // The relay, not Apple, keeps these tokens back: `reservation` does not count there.
        return max(now, time - TokenBucket.reservation)
    }

    /// Whether priority 5 is open to the wish. A start is of class `start`, which has none. Where
    /// no bucket limits, only unimportant wishes take priority 5.
    private func mayGoLow(_ wish: Wish, _ grant: Grant) -> Bool {
        switch wish {
        case .start, .settle: false
        case .echo, .latest(.low): true
        case .must, .end, .latest, .trailing, .frame: grant.perHour != nil
        }
    }

    private static func latest(
        _ one: (Instant, Hold), _ other: (Instant, Hold)
    ) -> (Instant, Hold) {
        other.0 > one.0 ? other : one
    }
}
