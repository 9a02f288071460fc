// Erases the data of a device or an activity in memory. The log erases the stored data.

/// Whose data is erased.
package enum ErasureSubject: Hashable, Sendable {
    /// An ended activity. With a number, only if the activity still has that number.
    case activity(ActivityKey, number: ActivityNumber?)
    /// A device, registered or not, with all that only this device may see.
    case device(DeviceKey)
}

extension Core {
    /// Erases the data in memory, and adds the deletion of its records to the pending batch.
    /// Refuses `.activity` if it is running. `.device` also erases running activities that are for
    /// it alone. Both are refused if an affected activity has events that are not durable yet.
    mutating func erase(_ subject: ErasureSubject, _ ticket: Ticket, now: Instant) {
        do throws(Refusal) {
            switch subject {
            case .activity(let key, let number):
                try eraseActivity(key, number: number, ticket)
            case .device(let key): try eraseDevice(key, ticket, now: now)
            }
        } catch {
            journal.answerNow(ticket, .refused(error))
        }
    }

    private mutating func eraseActivity(
        _ key: ActivityKey, number: ActivityNumber?, _ ticket: Ticket
    ) throws(Refusal) {
        let slot = try erasable(key, number: number)
        let number = activities[slot].number.rawValue
        forget(slot)
        var query = DeadLetterQuery(tenant: key.tenant)
        query.activity = key.id
        journal.write(deadLetters.remove(where: query.matches))
        journal.answer(ticket, Stored(.deleted, number: number))
    }

    private mutating func eraseDevice(
        _ key: DeviceKey, _ ticket: Ticket, now: Instant
    ) throws(Refusal) {
        let (alone, shared) = try named(key)
        forgetHistories(of: key)
        forgetTimelines(ofDevice: key)
        if let device = devices.slot(of: key) {
            forgetDevice(device, keepsHistory: false, now: now)
        }
        for slot in devices.leaving where devices[slot]?.key == key {
            finishLeaving(slot, atOnce: true, now: now)
        }
        journal.write(devices.departed.remove(.deleted(key)))
        // Its keys outlive it, so what remains is a hash, with the newest key of now.
        let newest = keys.order.newest
        if newest > 0 {
            let erased = DeviceOwner(user: nil, key: newest, erasedThrough: newest)
            let entry = DepartedDevices.Entry(number: devices.takeNumber(), owner: erased)
            journal.write(devices.departed.add(.erased(deliveryIDs.deviceHash(key)), entry))
        }
        journal.write(devices.actions.forget(device: key))
        for slot in alone { forget(slot) }
        for slot in shared { leave(key, slot) }
        for slot in activities.indices
        where activities[slot].key.tenant == key.tenant && activities[slot].remembers(key.id) {
            activities[slot].forgetLives(of: key.id)
            journal.rewrite(slot)
        }
        var query = DeadLetterQuery(tenant: key.tenant)
        query.device = key.id
        journal.write(deadLetters.remove(where: query.matches))
        counters[key.tenant].forgetLastNeverBegan { $0.device == key.id }
        journal.answer(ticket, Stored(.deleted))
    }

    /// Throws the refusal that an erasure would get. It changes nothing.
    package func dryRunErasure(_ subject: ErasureSubject) throws(Refusal) {
        switch subject {
        case .activity(let key, let number): _ = try erasable(key, number: number)
        case .device(let key): _ = try named(key)
        }
    }

    private func erasable(
        _ key: ActivityKey, number: ActivityNumber?
    ) throws(Refusal) -> ActivitySlot {
        guard let slot = activities.slot(of: key),
            number.map({ $0 == activities[slot].number }) ?? true
        else {
            throw Refusal(
                .unknownActivity,
                "no activity \"\(key.id)\"; it may have been erased, or cut with its history")
        }
        guard activities[slot].hasEnded else {
            throw Refusal(
                .activityRunning,
                "activity \"\(key.id)\" is running: end it first, so that no phone keeps its card")
        }
        try requireDurable([slot])
        return slot
    }

    /// The activities whose audience names the device: those for it alone, and the others.
    private func named(_ key: DeviceKey) throws(Refusal) -> (
        alone: [ActivitySlot], shared: [ActivitySlot]
    ) {
        var alone: [ActivitySlot] = []
        var shared: [ActivitySlot] = []
        for slot in activities.indices where activities.slot(of: activities[slot].key) == slot {
            guard activities[slot].key.tenant == key.tenant,
                case .devices(let ids) = activities[slot].definition.audience, ids.contains(key.id)
            else { continue }
            if ids.allSatisfy({ $0 == key.id }) { alone.append(slot) } else { shared.append(slot) }
        }
        try requireDurable(alone + shared)
        return (alone, shared)
    }

    /// Throws if an activity has events that are not durable: their batch refers to the slot, and
    /// the slot could belong to another activity before the batch is durable.
    private func requireDurable(_ slots: [ActivitySlot]) throws(Refusal) {
        let waits = slots.contains {
            activities[$0].durable?.version != activities[$0].accepted.version
        }
        guard !waits else {
            throw Refusal(
                .overloaded, "events of it are on their way to the disk: ask again in a second")
        }
    }

    private mutating func forget(_ slot: ActivitySlot) {
        if !activities[slot].hasEnded { leaveAudience(slot) }
        for destination in activities[slot].destinations {
            devices[known: destinations[destination].device].destinations.remove(destination)
            removeDestination(destination)
        }
        let owed = OwedReload(activities[slot])
        let key = activities[slot].key
        counters[key.tenant].forgetLastNeverBegan { $0.activity == key.id }
        activities.remove(slot)
        guard !timelines.slots(from: owed.activity).isEmpty else { return }
        journal.write(owed.record)
        surfaces.owe(owed.number, wishes(of: owed))
    }

    /// Removes the device from an activity that is for other devices, too.
    private mutating func leave(_ key: DeviceKey, _ slot: ActivitySlot) {
        guard case .devices(let ids) = activities[slot].definition.audience else { return }
        let isRunning = !activities[slot].hasEnded
        if isRunning { leaveAudience(slot) }
        activities[slot].definition.audience = .devices(ids.filter { $0 != key.id })
        if isRunning, case .devices(let left) = activities[slot].definition.audience {
            for id in left {
                join(slot, DeviceKey(tenant: key.tenant, id: id))
            }
        }
        journal.rewrite(slot)
    }
}
