import TomboloJSON

// Ended activities leave memory and are read from the log on demand, so that the core only holds
// live ones.

extension Core {
    /// Most retirements in one step.
    private static let retiredMax = 256
    /// Wait before an activity with undelivered changes is tried again.
    private static let retirementRetry = Span.minutes(10)

    /// Plans the retirement of an ended activity, after the time for late readers.
    mutating func retireLater(_ slot: ActivitySlot, now: Instant) {
        let accepted = activities[slot].accepted
        guard let ending = accepted.ending else { return }
        activities.retirements.set(
            slot, at: clock.shownAt(ending.at, now: now) + configuration.limits.endedKept)
        activities.noteEnded(slot)
    }

    /// Adds due retirements to the pending batch; the activities leave when that is durable.
    mutating func retire(now: Instant) {
        var count = 0
        let max = configuration.limits.endedMax
        while count < Self.retiredMax,
            let slot = activities.retirements.pop(
                until: activities.retirements.count > max ? .distantFuture : now)
        {
            guard activities[slot].hasEnded else { continue }
            count += 1
            guard !stageRetirement(slot, now: now) else { continue }
            // Beyond the limit, try others first.
            let isCrowded = activities.retirements.count >= max
            activities.retirements.set(
                slot,
                at: now + (isCrowded ? configuration.limits.endedKept : Self.retirementRetry))
        }
    }

    /// Retires the oldest ended activity early, or puts it behind the others if that is impossible.
    /// False if there is none.
    mutating func retireOldest(now: Instant) -> Bool {
        guard let slot = activities.retirements.pop(until: .distantFuture) else { return false }
        guard activities[slot].hasEnded, !stageRetirement(slot, now: now) else { return true }
        activities.retirements.set(slot, at: now + configuration.limits.endedKept)
        return true
    }

    /// Retires an ended activity early. False if that is impossible.
    @discardableResult
    mutating func retireEarly(_ slot: ActivitySlot, now: Instant) -> Bool {
        guard activities.retirements.at(slot) != nil, stageRetirement(slot, now: now) else {
            return false
        }
        activities.retirements.set(slot, at: nil)
        return true
    }

    /// False if the activity still has undelivered changes.
    private mutating func stageRetirement(_ slot: ActivitySlot, now: Instant) -> Bool {
        guard let ending = activities[slot].accepted.ending,
            activities[slot].durable?.version == activities[slot].accepted.version,
            activities[slot].destinations.allSatisfy({ canLeave($0) })
        else { return false }
        for destination in activities[slot].destinations {
            release(destination, endedAt: ending.at, now: now)
            dismiss(destination, now: now)
        }
        let retired = RetiredActivity(
            activity: activities[slot].number, name: activities[slot].key.id, endedAt: ending.at)
        journal.retire(
            .init(slot: slot, version: activities[slot].accepted.version, activity: retired),
            now: now)
        return true
    }

    private func canLeave(_ slot: CardSlot) -> Bool {
        guard let destination = destinations.at(slot) else { return true }
        return destination.isFinished && destination.inFlight == nil && !destination.isQueued
    }

    private mutating func dismiss(_ slot: CardSlot, now: Instant) {
        guard destinations.holds(slot) else { return }
        let (device, activity) = (destinations[slot].device, destinations[slot].activity)
        dropTokens(of: activity, on: device, now: now)
        confirmEnds(before: slot)
        devices[known: device].destinations.remove(slot)
        removeDestination(slot)
    }

    /// Confirms the ends of earlier destinations on the same channel: they must not be repeated
    /// there, even when no record shows any more that others followed.
    private mutating func confirmEnds(before slot: CardSlot) {
        guard let leaving = destinations.at(slot), devices.traits(leaving.device).isChannel else {
            return
        }
        for index in devices[leaving.device]?.destinations ?? [] {
            guard let earlier = destinations.at(index), earlier.number < leaving.number,
                earlier.activity != leaving.activity, let version = projection(index)?.version
            else { continue }
            destinations[index].echo.confirmed(version)
            destinations[index].markIsDirty = true
            journal.checkpoint(index)
        }
    }

    /// Removes activities whose retirement is durable, unless they were restarted meanwhile.
    mutating func leave(_ retired: [JournalBatch.Retired], now: Instant) {
        for one in retired where activities[one.slot].number == one.activity.activity {
            guard activities[one.slot].accepted.version == one.version else { continue }
            activities.hasRetired = true
            // A card has shown up meanwhile, which must end first.
            guard activities[one.slot].destinations.isEmpty else {
                activities.retirements.set(one.slot, at: now + Self.retirementRetry)
                continue
            }
            activities.remove(one.slot)
        }
    }

    /// True if the activity may have left memory, so that the log must be read.
    package func mayHaveRetired(_ key: ActivityKey) -> Bool {
        activities.mayHaveRetired(key)
    }

    /// The activities that may have left memory, so that the log must be read.
    package func mayHaveRetired(among keys: [ActivityKey]) -> [ActivityKey] {
        keys.filter(activities.mayHaveRetired)
    }

    /// Keeps an activity that the log has found in memory for a while.
    mutating func remember(_ head: PlacedHead, now: Instant) {
        guard activities.slot(of: head.head.activity) == nil, let activity = Activity(head),
            activities.slot(of: activity.key) == nil
        else { return }
        activities.retirements.set(activities.insert(activity), at: now + Self.retirementRetry)
    }
}

extension ActivityView {
    /// The view of an activity that is not in memory, from its head.
    package init?(_ head: PlacedHead) {
        guard let activity = Activity(head) else { return nil }
        let projection = activity.accepted
        self.init(
            key: activity.key, number: activity.number, incarnation: activity.incarnation,
            type: activity.definition.type, app: activity.definition.app,
            status: projection.ending == nil ? .waiting : .ended, version: head.version,
            seq: head.seq, tenantSeq: head.tenantSeq,
            state: projection.state(at: projection.changedAt), relevance: projection.relevance,
            staleAt: nil, clip: nil, destinations: [])
    }
}

extension Activity {
    /// Nil if the bytes are no head.
    fileprivate init?(_ head: PlacedHead) {
        self.init(
            head: head.head.value, number: head.head.activity, version: head.version,
            seq: head.seq, tenantSeq: head.tenantSeq)
    }
}
