import TomboloJSON

// The presence of apps: whether the user is in an app. It can hold back frames (pacing rule 12).

extension Core {
    /// Applies a device's presence report, which has a phase or signals.
    mutating func takePresence(
        _ report: PresenceReport, of key: DeviceKey, _ ticket: Ticket, now: Instant
    ) throws(Refusal) {
        let slot = try devices.registered(key)
        guard let device = devices[slot] else { return }
        // Some reports are answered without a write, so check for room first.
        guard hasRoom else { throw Self.noRoom }
        let (heard, stored, transitions) = hearing(report, of: device, now: now)
        devices[known: slot].heard = heard
        if heard.presence.isLease || device.presence.isLease {
            let clock = clock
            journal.write(heard.presence.record(ofDevice: device.number) { clock.wall($0) })
            journal.flushSoon(now: now)
        }
        for transition in transitions { notePresence(slot, transition, now: now) }
        // If a lease begins or ends, answer after the write: else a crash could lose it, and the
        // app would count as in front, or not, until the lease is over.
        if heard.presence.isLease != device.presence.isLease {
            journal.answer(ticket, stored)
        } else {
            journal.answerNow(ticket, .stored(stored))
        }
        for destination in devices[slot]?.destinations ?? [] {
            destinations[destination].noteSignOfLife(now: now)
        }
        presenceChanged(slot, now: now)
    }

    /// The device's presence after a report, the answer, and the changes. It stores nothing.
    func hearing(
        _ report: PresenceReport, of device: Device, now: Instant
    ) -> (heard: Device.Heard, stored: Stored, transitions: [Presence.Transition]) {
        var heard = device.heard ?? device.silence
        let wall = wall(now)
        var isNews = report.signals.isEmpty ? false : true
        var transitions: [Presence.Transition] = []
        func follow(
            _ phase: PresenceReport.Phase, _ cause: PresenceReport.Cause?, _ at: Instant?
        ) {
            let transition = heard.presence.follow(
                phase, cause: cause, observed: at, now: now, wall: wall)
            guard let transition else { return }
            isNews = true
            heard.report = PresenceReport(phase: phase, cause: cause, at: at)
            if transition != .none { transitions.append(transition) }
        }
        if let phase = report.phase { follow(phase, report.cause, report.at) }
        for (signal, at) in report.inOrder(wall: wall) {
            guard let told = heard.classifier.classify(signal, at: at) else { continue }
            follow(told.phase, told.cause, at)
        }
        var stored = Stored(isNews ? .updated : .outdated)
        // If the report was outdated, the lease of the last one may be over by now.
        var present = heard.presence
        present.lapse(now: now)
        stored.presence = Presence.Verdict(present.state, transitions.last ?? .none)
        return (heard, stored, transitions)
    }

    /// Lets all cards of the device be examined, now and when its lease or grace period ends.
    mutating func presenceChanged(_ slot: DeviceSlot, now: Instant) {
        noteWork(onDevice: slot)
        let wasLease = devices[slot]?.presence.isLease ?? false
        devices[known: slot].heard?.presence.lapse(now: now)
        if wasLease, let device = devices[slot], !device.presence.isLease {
            journal.erase(.presence, device.number)
            journal.flushSoon(now: now)
        }
        devices.deadlines.set(slot, at: devices[slot]?.presence.changesAt(now: now))
        for destination in devices[slot]?.destinations ?? [] {
            destinations.wakeFirst(destination)
        }
    }

    /// True if frames for a destination are held back because the app is in front.
    func isHidden(_ slot: CardSlot, now: Instant) -> Bool {
        guard destinations.holds(slot) else { return false }
        let (device, activity) = (
            destinations[slot].device, destinations[slot].activity
        )
        let traits = devices.traits(device)
        guard traits.isHeard, !traits.isChannel,
            activities[activity].definition.framesShowWhen == .background
        else { return false }
        return devices[device]?.presence.isInFront(at: now) ?? false
    }

    private mutating func notePresence(
        _ slot: DeviceSlot, _ transition: Presence.Transition, now: Instant
    ) {
        // On a nearly full disk the space is for pushes.
        guard let device = devices[slot], hasRoom else { return }
        var writer = FactRecipient.body(about: device.recipient)
        writer.member("state", device.presence.state.name)
        writer.endObject()
        note(
            device.key.tenant, nil, "presence.\(transition.name)", writer.bytes, isDetail: true,
            now: now)
    }

    // MARK: Reports about cards

    mutating func takeReport(
        _ report: PhoneReport, on reference: ActivityReference, _ key: DeviceKey, now: Instant
    ) throws(Refusal) {
        let slot = try devices.registered(key)
        if devices[slot]?.reports.count ?? 0 >= Device.reportsMax,
            devices[slot]?.reports[reference] == nil
        {
            devices[known: slot].reports = [:]
        }
        let before = devices[slot]?.reports[reference]
        devices[known: slot].reports[reference] = report
        devices[known: slot].reports[reference]?.noted = before?.noted ?? (nil, nil)
        let wall = wall(now)
        devices[known: slot].reports[reference]?.heardAt = wall
        devices[known: slot].reports[reference]?.notePicture(after: before, wall: wall)
        for index in devices[slot]?.destinations ?? [] {
            guard let destination = destinations.at(index), self.reference(destination) == reference
            else { continue }
            if let local = report.lastLocalUpdate {
                // A time in the future comes from a wrong clock: it counts as now.
                let trusted = local > wall + .minutes(1) ? wall : local
                let newest = max(destination.pacing.lastLocalUpdate, trusted.seconds)
                if newest > destination.pacing.lastLocalUpdate {
                    scheduleCheckpoint(index, now: now)
                }
                destinations[index].pacing.lastLocalUpdate = newest
            }
            if misses(report, destination, now: now) {
                devices[known: slot].reports[reference]?.missesPush = true
            }
            if let version = version(of: report.receivedState, destination, now: now) {
                devices[known: slot].reports[reference]?.matchedVersion = version
            }
            if let version = version(of: report.drawnState, destination, now: now) {
                devices[known: slot].reports[reference]?.matchedPicture = version
            }
            hear(report, at: index, now: now)
            destinations.wakeFirst(index)
        }
        if let heard = devices[slot]?.reports[reference] {
            noteReport(heard, before: before, on: reference, of: slot, now: now)
            devices[known: slot].reports[reference]?.noted = heard.nextNoted
        }
        noteSignOfLife(slot, besides: reference, now: now)
    }
}
