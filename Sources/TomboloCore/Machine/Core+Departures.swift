// Devices that go: deleted, erased, or replaced by another installation of the app.

extension Core {
    /// Deletes a device. First its cards with tokens end, as after a sign-out; until then the
    /// device stays in memory, but not under its name.
    mutating func deleteDevice(
        _ key: DeviceKey, _ ticket: Ticket, now: Instant
    ) throws(Refusal) {
        let slot = try devices.registered(key)
        var stored = Stored(.deleted)
        stored.endsWaiting = endsWaiting(of: slot, now: now)
        journal.answer(ticket, stored)
        guard let device = devices[slot] else { return }
        let ending = device.destinations.filter { destinations[$0].hasRouteToEnd }
        guard !ending.isEmpty else { return forgetDevice(slot, now: now) }
        leaveCards(on: slot, hasOtherUser: false, isDeleted: true, now: now)
        leaveName(slot, now: now)
        for card in device.destinations where !destinations[card].hasRouteToEnd {
            devices[known: slot].destinations.remove(card)
            removeDestination(card)
        }
        let used = Set(ending.map { reference(destinations[$0]) })
        for (name, _) in device.tokens.all {
            if case .activity(let reference) = name, used.contains(reference) { continue }
            devices[known: slot].tokens[name] = nil
        }
        adoptTokens(of: slot)
        let end = wall(now) + Device.leavingMax
        devices.leave(slot, until: end)
        devices.deadlines.set(slot, at: clock.steady(end))
        writeDevice(slot)
    }

    /// How many ends of the device's cards would wait for a pause or a closed upstream.
    func endsWaiting(of slot: DeviceSlot, now: Instant) -> Int {
        (devices[slot]?.destinations ?? []).count { card in
            destinations[card].hasRouteToEnd
                && (isPaused(card) || !upstreams[destinations[card].upstream].isOpen(now: now))
        }
    }

    /// Removes a deleted device when its cards have ended, or its time is over, or `atOnce`.
    mutating func finishLeaving(_ slot: DeviceSlot, atOnce: Bool = false, now: Instant) {
        guard let gone = devices[slot], let end = gone.leavingUntil else { return }
        let isOver = gone.destinations.allSatisfy { destinations[$0].isFinished }
        // `leavingUntil` is wall time; convert it to the monotonic clock.
        let steadyEnd = clock.shownAt(end - Device.leavingMax, now: now) + Device.leavingMax
        guard isOver || atOnce || steadyEnd <= now else {
            return devices.deadlines.set(slot, at: steadyEnd)
        }
        releaseTokens(of: slot)
        for card in gone.destinations { removeDestination(card) }
        devices.remove(slot)
        journal.erase(.device, gone.number)
        // There is no entry if the device was registered again.
        if let entry = devices.departed[.deleted(gone.key)], entry.number == gone.number {
            journal.write(devices.departed.add(.deleted(gone.key), entry))
        }
        journal.flushSoon(now: now)
    }

    /// - Parameter keepsHistory: false for an erasure, after which no trace may stay.
    mutating func forgetDevice(_ slot: DeviceSlot, keepsHistory: Bool = true, now: Instant) {
        guard let gone = devices[slot] else { return }
        leaveName(slot, keepsHistory: keepsHistory, now: now)
        for destination in gone.destinations { removeDestination(destination) }
        devices.remove(slot)
        journal.erase(.device, gone.number)
        if keepsHistory, let owner = gone.owner {
            let entry = DepartedDevices.Entry(number: gone.number, owner: owner)
            journal.write(devices.departed.add(.deleted(gone.key), entry))
        }
    }

    /// Removes all that is stored under the device's name.
    private mutating func leaveName(
        _ slot: DeviceSlot, keepsHistory: Bool = true, now: Instant
    ) {
        guard let gone = devices[slot] else { return }
        forgetStranger(slot, now: now)
        if keepsHistory { noteFact("device.deleted", of: slot, now: now) }
        if keepsHistory { keepHistory(ofDevice: slot, now: now) }
        if gone.channel == nil { forgetTimelines(ofDevice: gone.key) }
        releaseTokens(of: slot)
        if let user = devices.leaveUser(slot) { audiences.moveDevice(-1, of: user) }
        for surface in gone.surfaces.values.sorted() { forgetSurface(surface) }
        audiences.keep(gone.audience, gone.key)
        if gone.presence.isLease { journal.erase(.presence, gone.number) }
    }
}
