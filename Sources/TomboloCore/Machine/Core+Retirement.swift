import TomboloJSON

// Ended activities leave memory, and come back when somebody asks for them: what the core holds is
// what lives.

/// An ended activity whose head the log moves out of what lives.
package struct RetiredActivity: Hashable, Sendable {
    package var activity: ActivityNumber
    /// Under which it is found again, together with its tenant.
    package var name: Identifier
    package var endedAt: Instant

    package init(activity: ActivityNumber, name: Identifier, endedAt: Instant) {
        self.activity = activity
        self.name = name
        self.endedAt = endedAt
    }
}

extension Core {
    /// So many retire in one step: a step stays a bounded piece of work.
    private static let retiredMax = 256
    /// One that still has something to deliver is looked at again after this.
    private static let retirementRetry = Span.minutes(10)

    /// An activity that has ended retires when late readers have had their time.
    mutating func retireLater(_ slot: Int, now: Instant) {
        guard let ending = activities[slot].accepted.ending else { return }
        retirements.set(
            slot, at: shownAt(ending.at, now: now) + configuration.limits.endedKept)
        noteEnded(slot)
    }

    /// Stages those whose time has come; they leave when that is durable.
    mutating func retire(now: Instant) {
        var count = 0
        let max = configuration.limits.endedMax
        while count < Self.retiredMax,
            let slot = retirements.pop(until: retirements.count > max ? .distantFuture : now)
        {
            guard activities[slot].hasEnded else { continue }
            count += 1
            guard !stageRetirement(slot, now: now) else { continue }
            // Beyond the limit others come first.
            let isCrowded = retirements.count >= max
            retirements.set(
                slot,
                at: now + (isCrowded ? configuration.limits.endedKept : Self.retirementRetry))
        }
    }

    /// The oldest of all leaves before its time, or lets others go first; false where there is
    /// none.
    mutating func retireOldest(now: Instant) -> Bool {
        guard let slot = retirements.pop(until: .distantFuture) else { return false }
        guard activities[slot].hasEnded, !stageRetirement(slot, now: now) else { return true }
        retirements.set(slot, at: now + configuration.limits.endedKept)
        return true
    }

    /// One that has ended leaves before its time; false where it may not.
    @discardableResult
    mutating func retireEarly(_ slot: Int, now: Instant) -> Bool {
        guard retirements.at(slot) != nil, stageRetirement(slot, now: now) else { return false }
        retirements.set(slot, at: nil)
        return true
    }

    /// Answers false where something of it is still to be delivered.
    private mutating func stageRetirement(_ slot: Int, now: Instant) -> Bool {
        guard let ending = activities[slot].accepted.ending,
            activities[slot].durable?.version == activities[slot].accepted.version,
            activities[slot].destinations.allSatisfy(canLeave)
        else { return false }
        for destination in activities[slot].destinations {
            release(destination, endedAt: ending.at, now: now)
            dismiss(destination, now: now)
        }
        staged.retired.append(
            Staged.Retired(
                slot: slot, version: activities[slot].accepted.version,
                activity: RetiredActivity(
                    activity: activities[slot].number, name: activities[slot].key.id,
                    endedAt: ending.at)))
        flushSoon(now: now)
        return true
    }

    private func canLeave(_ slot: Int) -> Bool {
        guard let destination = destinations.at(slot) else { return true }
        return destination.isFinished && destination.inFlight == nil && !destination.isQueued
    }

    private mutating func dismiss(_ slot: Int, now: Instant) {
        let (device, activity) = (destinations[slot].device, destinations[slot].activity)
        dropTokens(of: activity, on: device, now: now)
        confirmEnds(before: slot)
        devices[device]?.destinations.remove(slot)
        removeDestination(slot)
    }

    /// A destination that leaves has followed others on its channel. Their ends do not go there
    /// again, also when nothing shows any more that they were followed.
    private mutating func confirmEnds(before slot: Int) {
        guard let leaving = destinations.at(slot), devices.traits(leaving.device).isChannel else {
            return
        }
        for index in devices[leaving.device]?.destinations ?? [] {
            guard let earlier = destinations.at(index), earlier.number < leaving.number,
                earlier.activity != leaving.activity, let version = projection(index)?.version
            else { continue }
            destinations[index].echo.confirmed(version)
            destinations[index].markIsDirty = true
            staged.dirtyMarks.append(index)
        }
    }

    /// What retired is in the log's keeping, unless it has begun anew meanwhile.
    mutating func leave(_ retired: [Staged.Retired], now: Instant) {
        for one in retired where activities[one.slot].number == one.activity.activity {
            guard activities[one.slot].accepted.version == one.version else { continue }
            hasRetired = true
            // A card of it has shown up meanwhile, and is to end first.
            guard activities[one.slot].destinations.isEmpty else {
                retirements.set(one.slot, at: now + Self.retirementRetry)
                continue
            }
            vacate(one.slot)
        }
    }

    /// Frees an activity's place; nothing may refer to it any more.
    mutating func vacate(_ slot: Int) {
        activityByKey[activities[slot].key] = nil
        activityByNumber[activities[slot].number] = nil
        retirements.set(slot, at: nil)
        activities[slot].forget()
        recount(slot)
        freeActivities.append(slot)
    }

    /// Gives an activity a place.
    mutating func insert(_ activity: Activity) -> Int {
        let slot = freeActivities.popLast() ?? activities.count
        if slot == activities.count {
            activities.append(activity)
        } else {
            activities[slot] = activity
        }
        activityByKey[activity.key] = slot
        activityByNumber[activity.number] = slot
        recount(slot)
        return slot
    }

    /// Whether the log may have to be asked for an activity that is not here.
    package func mayHaveRetired(_ key: ActivityKey) -> Bool {
        hasRetired && activityByKey[key] == nil
    }

    /// Those of many that the log may have to be asked for.
    package func mayHaveRetired(among keys: [ActivityKey]) -> [ActivityKey] {
        guard hasRetired else { return [] }
        var missing: [ActivityKey] = []
        for key in keys where activityByKey[key] == nil { missing.append(key) }
        return missing
    }

    /// One that the log found: it is answered for from memory again, for a while.
    mutating func remember(_ head: PlacedHead, now: Instant) {
        guard activityByNumber[head.head.activity] == nil, let activity = Activity(head),
            activityByKey[activity.key] == nil
        else { return }
        retirements.set(insert(activity), at: now + Self.retirementRetry)
    }

    /// How an activity stood when its head was written, for one that is not in memory.
    package static func view(_ head: PlacedHead) -> ActivityView? {
        guard let activity = Activity(head) else { return nil }
        let projection = activity.accepted
        return ActivityView(
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

    /// Lets go of all that takes memory; what is left has ended and is nobody's.
    fileprivate mutating func forget() {
        definition.attributes = .emptyObject
        definition.audience = .none
        accepted = Projection(
            restoring: .emptyObject, version: 0, changedAt: .distantPast, relevance: nil,
            staleAfter: nil, urgency: .normal, clip: nil, keptClip: nil, alert: nil,
            ending: Projection.Ending(at: .distantPast, dismissal: .standard), stateVersion: nil)
        durable = nil
        settle()
        channelDestination = nil
        alerts = []
        superseded = []
        traces = nil
        destinations = []
    }
}
