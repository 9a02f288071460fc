// Ended activities leave memory. They are read from the log on demand, so that the core holds
// mostly running ones.

extension Core {
    /// Time until an activity that could not leave is tried again.
    private static let retirementRetry = Span.minutes(10)

    /// Plans when an ended activity leaves memory. Until then, late readers find it there.
    mutating func retireLater(_ slot: ActivitySlot, now: Instant) {
        let accepted = activities[slot].accepted
        guard let ending = accepted.ending else { return }
        activities.retirements.set(
            slot, at: clock.shownAt(ending.at, now: now) + configuration.limits.endedKept)
        activities.noteEnded(slot)
    }

    /// Adds due retirements to the pending batch. The activities leave memory when it is durable.
    mutating func retire(now: Instant, _ work: inout StepBudget.Part) {
        let limits = configuration.limits
        var (left, stayed) = (0, 0)
        while !work.isSpent, !journal.retiresMuch {
            let isCrowded = activities.areCrowded(limits, now: now)
            let until = isCrowded ? .distantFuture : now
            guard let slot = activities.retirements.pop(until: until) else { break }
            guard activities[slot].hasEnded, !addRetirement(slot, now: now, &work) else {
                left += 1
                continue
            }
            if isCrowded { stayed += 1 }
            // Above a limit, try the other ones first.
            activities.retirements.set(
                slot, at: now + (isCrowded ? limits.endedKept : Self.retirementRetry))
        }
        if left == 0, stayed > 0 { activities.stay(now: now) }
    }

    /// Retires the oldest ended activity early. If that is impossible, it comes after the others.
    /// Returns false if there is no ended activity.
    mutating func retireOldest(now: Instant, _ work: inout StepBudget.Part) -> Bool {
        guard let slot = activities.retirements.pop(until: .distantFuture) else { return false }
        guard activities[slot].hasEnded, !addRetirement(slot, now: now, &work) else { return true }
        activities.retirements.set(slot, at: now + configuration.limits.endedKept)
        return true
    }

    /// Retires an ended activity early. Returns false if that is impossible.
    @discardableResult
    mutating func retireEarly(
        _ slot: ActivitySlot, now: Instant, _ work: inout StepBudget.Part
    ) -> Bool {
        guard activities.retirements.at(slot) != nil, addRetirement(slot, now: now, &work) else {
            return false
        }
        activities.retirements.set(slot, at: nil)
        return true
    }

    /// Adds a retirement to the pending batch. Returns false if a destination still has something
    /// to send.
    private mutating func addRetirement(
        _ slot: ActivitySlot, now: Instant, _ work: inout StepBudget.Part
    ) -> Bool {
        work.take(StepBudget.Cost.leave)
        guard let ending = activities[slot].accepted.ending,
            activities[slot].durable?.version == activities[slot].accepted.version,
            activities[slot].destinations.allSatisfy({ canLeave($0) })
        else { return false }
        for destination in activities[slot].destinations {
            work.take(StepBudget.Cost.leave)
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
        return destination.isFinished && destination.inFlight == nil && !destination[.isQueued]
    }

    private mutating func dismiss(_ slot: CardSlot, now: Instant) {
        guard destinations.holds(slot) else { return }
        let (device, activity) = (destinations[slot].device, destinations[slot].activity)
        dropTokens(of: activity, on: device, now: now)
        confirmEnds(before: slot)
        devices[known: device].destinations.remove(slot)
        removeDestination(slot)
    }

    /// Marks the ends of earlier activities on the same channel as confirmed. They must not be
    /// repeated there, even when the destination that shows that others followed is removed.
    private mutating func confirmEnds(before slot: CardSlot) {
        guard let leaving = destinations.at(slot), devices.traits(leaving.device).isChannel else {
            return
        }
        for index in devices[leaving.device]?.destinations ?? [] {
            guard let earlier = destinations.at(index), earlier.number < leaving.number,
                earlier.activity != leaving.activity, let version = projection(index)?.version
            else { continue }
            destinations[index].echo.confirmed(version)
            destinations[index][.checkpointIsDirty] = true
            journal.checkpoint(index)
        }
    }

    /// Removes activities whose retirement is durable, unless they were started again meanwhile.
    mutating func leave(_ retired: [JournalBatch.Retired], now: Instant) {
        for one in retired where activities[one.slot].number == one.activity.activity {
            guard activities[one.slot].accepted.version == one.version else { continue }
            activities.hasRetired = true
            // A card has appeared meanwhile; it must end first.
            guard activities[one.slot].destinations.isEmpty else {
                activities.retirements.set(one.slot, at: now + Self.retirementRetry)
                continue
            }
            activities.remove(one.slot)
        }
    }

    /// True if the activity may have left memory: then look it up in the log.
    package func mayHaveRetired(_ key: ActivityKey) -> Bool {
        activities.mayHaveRetired(key)
    }

    /// Those of the activities that may have left memory.
    package func mayHaveRetired(among keys: [ActivityKey]) -> [ActivityKey] {
        keys.filter(activities.mayHaveRetired)
    }

    /// Puts an activity that the log has found back into memory for a while.
    mutating func remember(_ head: PositionedHead, now: Instant) {
        guard activities.slot(of: head.head.activity) == nil, let activity = Activity(head),
            activities.slot(of: activity.key) == nil
        else { return }
        activities.retirements.set(activities.insert(activity), at: now + Self.retirementRetry)
    }
}

extension ActivityView {
    /// The view of an activity that is not in memory, made from its head; nil if the head is
    /// invalid.
    package init?(_ head: PositionedHead) {
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
    /// Returns nil if the bytes are not a valid head.
    fileprivate init?(_ head: PositionedHead) {
        self.init(
            head: head.head.value, number: head.head.activity, version: head.version,
            seq: head.seq, tenantSeq: head.tenantSeq)
    }
}
