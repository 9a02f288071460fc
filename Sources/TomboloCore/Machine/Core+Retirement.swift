import TomboloJSON

// Ended activities leave memory, and come back when somebody asks for them: what the core holds is
// what lives.

extension Core {
    /// So many retire in one step: a step stays a bounded piece of work.
    private static let retiredMax = 256
    /// One that still has something to deliver is looked at again after this.
    private static let retirementRetry = Span.minutes(10)

    /// An activity that has ended retires when late readers have had their time.
    mutating func retireLater(_ slot: ActivitySlot, now: Instant) {
        let accepted = activities[slot].accepted
        guard let ending = accepted.ending else { return }
        activities.retirements.set(
            slot, at: clock.shownAt(ending.at, now: now) + configuration.limits.endedKept)
        activities.noteEnded(slot)
    }

    /// Stages those whose time has come; they leave when that is durable.
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
            // Beyond the limit others come first.
            let isCrowded = activities.retirements.count >= max
            activities.retirements.set(
                slot,
                at: now + (isCrowded ? configuration.limits.endedKept : Self.retirementRetry))
        }
    }

    /// The oldest of all leaves before its time, or lets others go first; false where there is
    /// none.
    mutating func retireOldest(now: Instant) -> Bool {
        guard let slot = activities.retirements.pop(until: .distantFuture) else { return false }
        guard activities[slot].hasEnded, !stageRetirement(slot, now: now) else { return true }
        activities.retirements.set(slot, at: now + configuration.limits.endedKept)
        return true
    }

    /// One that has ended leaves before its time; false where it may not.
    @discardableResult
    mutating func retireEarly(_ slot: ActivitySlot, now: Instant) -> Bool {
        guard activities.retirements.at(slot) != nil, stageRetirement(slot, now: now) else {
            return false
        }
        activities.retirements.set(slot, at: nil)
        return true
    }

    /// Answers false where something of it is still to be delivered.
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

    /// A destination that leaves has followed others on its channel. Their ends do not go there
    /// again, also when nothing shows any more that they were followed.
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

    /// What retired is in the log's keeping, unless it has begun anew meanwhile.
    mutating func leave(_ retired: [JournalBatch.Retired], now: Instant) {
        for one in retired where activities[one.slot].number == one.activity.activity {
            guard activities[one.slot].accepted.version == one.version else { continue }
            activities.hasRetired = true
            // A card of it has shown up meanwhile, and is to end first.
            guard activities[one.slot].destinations.isEmpty else {
                activities.retirements.set(one.slot, at: now + Self.retirementRetry)
                continue
            }
            activities.remove(one.slot)
        }
    }

    /// Whether the log may have to be asked for an activity that is not here.
    package func mayHaveRetired(_ key: ActivityKey) -> Bool {
        activities.mayHaveRetired(key)
    }

    /// Those of many that the log may have to be asked for.
    package func mayHaveRetired(among keys: [ActivityKey]) -> [ActivityKey] {
        keys.filter(activities.mayHaveRetired)
    }

    /// One that the log found: it is answered for from memory again, for a while.
    mutating func remember(_ head: PlacedHead, now: Instant) {
        guard activities.slot(of: head.head.activity) == nil, let activity = Activity(head),
            activities.slot(of: activity.key) == nil
        else { return }
        activities.retirements.set(activities.insert(activity), at: now + Self.retirementRetry)
    }
}

extension ActivityView {
    /// How an activity stood when its head was written, for one that is not in memory.
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
    /// As `init(head:)`.
    fileprivate init?(_ head: PlacedHead) {
        self.init(
            head: head.head.value, number: head.head.activity, version: head.version,
            seq: head.seq, tenantSeq: head.tenantSeq)
    }
}
