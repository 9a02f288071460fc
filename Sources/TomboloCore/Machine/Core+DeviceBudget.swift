// A device has a budget of its own, which all of its activities share.

extension Core {
    /// What a device has spent of its budget, and its grant. Nil if the grant has no limit, if the
    /// device is a channel, or if devices have no budget of their own.
    func deviceBudget(
        _ device: DeviceSlot, _ grant: Grant
    ) -> (spent: DeviceBudget, grant: Grant)? {
        let factor = configuration.limits.deviceGrantFactor
        guard factor > 0, grant.perHour != nil, !devices.traits(device).isChannel else {
            return nil
        }
        return (devices.budgets[device], grant.times(factor))
    }

    /// The same for an attempt. If another destination's attempt waits to be durable, it counts as
    /// sent now, because it will be sent first.
    func deviceBudget(
        _ place: DeviceSlot, _ grant: Grant, for slot: CardSlot, now: Instant
    ) -> (spent: DeviceBudget, grant: Grant)? {
        guard var device = deviceBudget(place, grant) else { return nil }
        if let kept = device.spent.keptFor, kept != slot { device.spent.lastSend = now }
        return device
    }

    /// Adopts grants after a change of the device's budget class: its buckets refill by the new
    /// grants from now on. The change is recorded in a checkpoint together with its cause.
    mutating func adoptGrants(of device: DeviceSlot, now: Instant) {
        for slot in devices[device]?.destinations ?? [] {
            guard let destination = destinations.at(slot) else { continue }
            let grant = grantInForce(destination).grant
            var isOther = destinations[slot].pacing.bucket.adopt(grant, now: now)
            if let (_, nested) = deviceBudget(destination.device, grant),
                devices.budgets[device].bucket.adopt(nested, now: now)
            {
                isOther = true
            }
            guard isOther else { continue }
            destinations[slot][.checkpointIsDirty] = true
            journal.checkpoint(slot)
        }
    }

    /// True if the token that is reserved for a start is still valid.
    func hasPaidForStart(_ destination: Destination, now: Instant) -> Bool {
        devices.budgets[destination.device].starts.covers(
            configuration.budgets[.start], count: startTokensHeld(by: destination.device),
            now: now)
    }

    /// Reserves a token in the destination's and the device's bucket, to be spent when it is
    /// durable.
    mutating func reserveToken(_ slot: CardSlot, _ grant: Grant, now: Instant) {
        guard let destination = destinations.at(slot) else { return }
        let (holds, pays) = (
            destination.pacing.holdsToken, destination.pacing.hasPaid(grant, now: now)
        )
        destinations[slot].pacing.reserve(grant, now: now)
        guard !pays, let (_, nested) = deviceBudget(destination.device, grant) else { return }
        if holds {
            devices.budgets[destination.device].bucket.renew(
                nested, until: now + PacingState.slowReservation, now: now)
        } else {
            devices.budgets[destination.device].bucket.take(
                nested, now: now + TokenBucket.reservation)
        }
    }

    /// When the device's budget for starts has a token; nil if it has one now.
    func startsAllow(_ device: DeviceSlot, now: Instant) -> Instant? {
        let time = devices.budgets[device].starts.time(
            keeping: 0, of: configuration.budgets[.start], held: startTokensHeld(by: device),
            now: now)
        return time.flatMap { $0 > now ? $0 : nil }
    }

    /// Reserves a token in the device's budget for starts, to be spent when it is durable.
    mutating func reserveStart(_ slot: CardSlot, now: Instant) {
        guard let destination = destinations.at(slot) else { return }
        let grant = configuration.budgets[.start]
        // Reserved tokens must still count as taken: the bucket must not refill them.
        let held = startTokensHeld(by: destination.device)
        if held > 0,
            !devices.budgets[destination.device].starts.covers(grant, count: held, now: now)
        {
            devices.budgets[destination.device].starts.renew(
                grant, count: held, until: now + PacingState.slowReservation, now: now)
        }
        guard !destination[.holdsStartToken] else { return }
        devices.budgets[destination.device].starts.take(
            grant, now: now + TokenBucket.reservation)
        setHoldsStartToken(slot, true)
    }

    private func startTokensHeld(by device: DeviceSlot) -> Int64 {
        Int64(devices.budgets[device].startsHeld)
    }

    /// Sets whether a destination has a reserved token for a start. Every change goes through here,
    /// because the device counts these tokens.
    mutating func setHoldsStartToken(_ slot: CardSlot, _ holds: Bool) {
        guard destinations.holds(slot), destinations[slot][.holdsStartToken] != holds else {
            return
        }
        destinations[slot][.holdsStartToken] = holds
        devices.budgets[destinations[slot].device].startsHeld += holds ? 1 : -1
    }

    /// Spends the token that is reserved for a start, or takes one.
    mutating func spendStart(_ slot: CardSlot, now: Instant) {
        guard let destination = destinations.at(slot) else { return }
        if !destination[.holdsStartToken] {
            devices.budgets[destination.device].starts.take(
                configuration.budgets[.start], now: now)
        }
        setHoldsStartToken(slot, false)
    }

    mutating func takeFromDevice(_ slot: CardSlot, _ grant: Grant, now: Instant) {
        let device = destinations[slot].device
        guard let (_, grant) = deviceBudget(device, grant) else { return }
        devices.budgets[device].bucket.take(grant, now: now)
    }

    mutating func noteDeviceSend(_ slot: CardSlot, priority: UInt8, now: Instant) {
        let device = destinations[slot].device
        devices.budgets[device].lastSend = now
        if priority == 5 { devices.budgets[device].lastLowPrioritySend = now }
    }

    /// The destinations of the slot's device that wait for the device's budget, in turn: those with
    /// an alert first, then by the time of their last push (rule 8).
    ///
    /// - Returns: nil if no other destination waits, which is the usual case.
    mutating func inTurn(_ slot: CardSlot, now: Instant) -> [CardSlot]? {
        guard destinations.holds(slot) else { return nil }
        let device = destinations[slot].device
        guard devices.budgets[device].isContended else { return nil }
        let waiting = (devices[device]?.destinations ?? []).filter { index in
            index == slot || destinations.at(index).map { $0.isDue(now: now) } ?? false
        }
        if waiting.count < 2 { devices.budgets[device].isContended = false }
        return waiting.sorted { rank($0) < rank($1) }
    }

    private func rank(_ slot: CardSlot) -> (Int, Instant, CardSlot) {
        guard let destination = destinations.at(slot) else { return (2, .distantFuture, slot) }
        let newest = activities[destination.activity].alerts.last?.version ?? 0
        let alerts = newest > destination.alertsThrough
        return (alerts ? 0 : 1, destination.pacing.lastSend, slot)
    }
}
