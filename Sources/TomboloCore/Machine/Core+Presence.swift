import TomboloJSON

// Whether apps are in front, and what that holds back (pacing rule 12).

extension Core {
    /// Takes a device's report, or the signals that make one.
    mutating func take(
        _ report: PresenceReport, of key: DeviceKey, _ ticket: Ticket, now: Instant,
        effects: inout Effects
    ) throws(Refusal) {
        let slot = try device(key)
        guard let device = devices[slot] else { return }
        let (heard, isNews, transitions) = hearing(report, of: device, now: now)
        devices[slot]?.heard = heard
        for transition in transitions { notePresence(slot, transition, now: now) }
        effects.answers.append((ticket, .stored(Stored(isNews ? .updated : .outdated))))
        for destination in devices[slot]?.destinations ?? [] {
            destinations[destination].noteSignOfLife(now: now)
        }
        presenceChanged(slot, now: now, effects: &effects)
    }

    /// What is known of a device's presence after a report, and whether that was news.
    func hearing(
        _ report: PresenceReport, of device: Device, now: Instant
    ) -> (heard: Device.Heard, isNews: Bool, transitions: [Presence.Transition]) {
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
        return (heard, isNews, transitions)
    }

    /// The frames of everything that the device shows are looked at anew, and once more when its
    /// lease or grace is over.
    mutating func presenceChanged(_ slot: Int, now: Instant, effects: inout Effects) {
        noteWork(onDevice: slot)
        devices[slot]?.heard?.presence.lapse(now: now)
        devices.deadlines.set(slot, at: devices[slot]?.presence.changesAt(now: now))
        for destination in devices[slot]?.destinations ?? [] {
            evaluate(destination, now: now, effects: &effects)
        }
    }

    /// Whether the app stands in front of an activity's frames on a device.
    func isHidden(_ slot: Int, now: Instant) -> Bool {
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
        _ slot: Int, _ transition: Presence.Transition, now: Instant
    ) {
        // As in `noteFact`.
        guard let device = devices[slot], hasRoom else { return }
        var writer = FactRecipient.body(about: device.recipient)
        writer.member("transition", transition.name)
        writer.member("standing", device.presence.standing.name)
        writer.endObject()
        note(device.key.tenant, nil, "presence.changed", writer.bytes, isDetail: true, now: now)
    }

    // MARK: The phone's word

    mutating func take(
        _ report: PhoneReport, on reference: ActivityReference, _ key: DeviceKey, now: Instant,
        effects: inout Effects
    ) throws(Refusal) {
        let slot = try device(key)
        if devices[slot]?.reports.count ?? 0 >= Device.reportsMax,
            devices[slot]?.reports[reference] == nil
        {
            devices[slot]?.reports = [:]
        }
        let before = devices[slot]?.reports[reference]
        devices[slot]?.reports[reference] = report
        devices[slot]?.reports[reference]?.matchedVersion = before?.matchedVersion
        for index in devices[slot]?.destinations ?? [] {
            guard let destination = destinations.at(index), self.reference(destination) == reference
            else { continue }
            if let local = report.lastLocalUpdate {
                // A time far ahead is a wrong clock's: it counts as now.
                let trusted = local > wall(now) + .minutes(1) ? wall(now) : local
                let newest = max(destination.pacing.lastLocalUpdate, trusted.seconds)
                if newest > destination.pacing.lastLocalUpdate { markDirty(index, now: now) }
                destinations[index].pacing.lastLocalUpdate = newest
            }
            if misses(report, destination, now: now) {
                devices[slot]?.reports[reference]?.missesPush = true
            }
            if let version = matchedVersion(report, destination, now: now) {
                devices[slot]?.reports[reference]?.matchedVersion = version
            }
            hear(report, at: index, now: now)
            evaluate(index, now: now, effects: &effects)
        }
        if let heard = devices[slot]?.reports[reference] {
            noteReport(heard, before: before, on: reference, of: slot, now: now)
        }
        noteSignOfLife(slot, besides: reference, now: now, effects: &effects)
    }
}
