import TomboloJSON

// Timelines of widgets: how they are stored and removed, when their producers are asked for new
// content, and what their widgets get.

/// Stores or deletes a timeline.
package enum TimelineCommand: Sendable {
    case put(TimelineRequest, kind: Identifier)
    /// If `app` is nil, it is the tenant's only app.
    case delete(kind: Identifier, app: String?, TimelineSubject)
}

extension Core {
    /// Maximum number of a tenant's timelines. Each takes a kilobyte or more, in memory and on
    /// disk.
    static let timelinesMax = 250_000
    /// Maximum size of all bodies of one tenant's timelines.
    static let timelineBytesMax = 256 << 20
    /// Maximum size of the entries that one widget gets, because each entry repeats its content.
    static let timelineAnswerMax = 2 << 20

    mutating func takeTimelineCommand(
        _ command: TimelineCommand, of tenant: TenantID, _ ticket: Ticket, now: Instant
    ) {
        do throws(Refusal) {
            let stored =
                switch command {
                case .put(let request, let kind):
                    try put(request, kind, tenant, now: now)
                case .delete(let kind, let app, let subject):
                    try deleteTimeline(
                        TimelineKey(
                            tenant: tenant, app: try configuration.app(app, of: tenant), kind: kind,
                            subject: subject), now: now)
                }
            journal.answer(ticket, stored)
        } catch {
            counters[tenant].commandsRefused += 1
            journal.answerNow(ticket, .refused(error))
        }
    }

    private mutating func put(
        _ request: TimelineRequest, _ kind: Identifier, _ tenant: TenantID, now: Instant
    ) throws(Refusal) -> Stored {
        guard hasRoom else { throw Self.noRoom }
        let bytes = request.timeline.bytes
        guard journal.bodyBytes + bytes <= max(configuration.limits.pendingBytesMax, bytes) else {
            throw Self.isBehind
        }
        let key = try check(request, kind, tenant)
        journal.addBytes(bytes)
        let known = timelines[key]
        var timeline = request.timeline
        timeline.linkHashes = request.links.map { deliveryIDs.link($0) }.sorted()
        let row = StoredTimeline(
            number: timelines.number(of: key), key: key, timeline: timeline,
            updatedAt: wall(now), askedThrough: known?.askedThrough ?? .distantPast,
            former: known?.formerLinks(at: wall(now)) ?? [])
        let slot = timelines.put(row)
        journal.write(row.record())
        schedule(slot, now: now)
        var stored = Stored(known == nil ? .created : .updated)
        stored.lint = Lint.of(row.timeline, types.type(of: key, row.timeline))
        if let shown = changed(known?.timeline, to: row.timeline, of: key) {
            let reached = reload(for: row.key, shown)
            // Devices without a token are reloaded when they have one.
            for slot in reached.slots + reached.others {
                wantReload(.widget, of: slot, now: now)
            }
            (stored.count, stored.unreachable) = (reached.slots.count, reached.unreachable)
        }
        return stored
    }

    /// The timeline with all readers whose widgets change by it; nil if no widget changes.
    private func changed(
        _ known: Timeline?, to next: Timeline, of key: TimelineKey
    ) -> Timeline? {
        guard let known else { return next }
        guard
            known.readers != next.readers
                || known.visibleHash != next.visibleHash
                    && types.seen(known, key) != types.seen(next, key)
        else { return nil }
        var shown = next
        shown.readers += known.readers.filter { !next.readers.contains($0) }
        return shown
    }

    /// The key of the timeline. Throws if the request is faulty or exceeds a limit.
    private func check(
        _ request: TimelineRequest, _ kind: Identifier, _ tenant: TenantID
    ) throws(Refusal) -> TimelineKey {
        let key = TimelineKey(
            tenant: tenant, app: try configuration.app(request.app, of: tenant), kind: kind,
            subject: request.subject)
        let known = timelines[key]
        let size = timelines.size(of: tenant)
        guard known != nil || size.count < Self.timelinesMax else {
            throw Refusal(
                .limitReached,
                "there are \(Self.timelinesMax) timelines already, as many as a tenant may have")
        }
        try checkReach(key, request.timeline, isNew: known == nil)
        let bytes = request.timeline.bytes
        try types.check(request.timeline, key)
        let others = size.bytes - (known?.timeline.bytes ?? 0)
        guard others + bytes <= Self.timelineBytesMax else {
            throw Refusal(
                .limitReached,
                "the timelines of this tenant have \(others) bytes, and with these \(bytes) more "
                    + "than the \(Self.timelineBytesMax) that they may have")
        }
        guard let schedule = request.timeline.schedule else { return key }
        let answer = bytes * (schedule.count + 1)
        guard answer <= Self.timelineAnswerMax else {
            throw Refusal(
                .invalidField,
                "each entry has the content: a widget would get \(answer) bytes, and "
                    + "\(Self.timelineAnswerMax) are the most; give a picture by its URL, or "
                    + "fewer entries",
                errors: [FieldError(pointer: "/schedule/count", message: "is too large")])
        }
        if case .named(let name) = schedule.zone, configuration.zone(name) == nil {
            let rhythm = schedule.weekday == nil ? "daily" : "weekly"
            throw Refusal(
                .invalidField, "this machine knows no time zone \"\(name)\"",
                errors: [
                    FieldError(
                        pointer: "/schedule/\(rhythm)/zone",
                        message: "must be a name such as \"Europe/Berlin\", or \"device\"")
                ])
        }
        return key
    }

    /// Throws if a change of the timeline would reach too many devices, or if a device has too
    /// many.
    private func checkReach(
        _ key: TimelineKey, _ timeline: Timeline, isNew: Bool
    ) throws(Refusal) {
        if case .device = key.subject, isNew,
            timelines.slots(of: key.subject, key.tenant).count >= Timeline.ofDeviceMax
        {
            throw Refusal(
                .limitReached,
                "the device has \(Timeline.ofDeviceMax) timelines already, as many as one may have")
        }
        if let activity = timeline.from {
            let source = ActivityKey(tenant: key.tenant, id: activity)
            let others = timelines.slots(from: source).compactMap { timelines[$0] }
                .filter { $0.key != key }
            let readers = ([timeline] + others.map(\.timeline))
                .reduce(0) { $0 + max(1, $1.readers.count) }
            guard readers <= Timeline.ofActivityMax else {
                throw Refusal(
                    .limitReached,
                    "the timelines of activity \"\(activity)\" have \(readers) readers with this "
                        + "one, and \(Timeline.ofActivityMax) are the most; put \"content\" for the "
                        + "others, or show the activity on a broadcast channel")
            }
        }
        let devices = timeline.readers.reduce(0) { count, user in
            count + self.devices.slots(of: UserKey(tenant: key.tenant, user: user)).count
        }
        guard devices <= Timeline.readersDevicesMax else {
            throw Refusal(
                .limitReached,
                "the readers have \(devices) devices, and \(Timeline.readersDevicesMax) are the "
                    + "most that one timeline may reload; name fewer readers",
                errors: [FieldError(pointer: "/subject/readers", message: "have too many devices")])
        }
    }

    private mutating func deleteTimeline(
        _ key: TimelineKey, now: Instant
    ) throws(Refusal) -> Stored {
        guard let row = timelines.remove(key) else { throw .unknownTimeline(key) }
        for slot in reload(for: key, row.timeline).slots { wantReload(.widget, of: slot, now: now) }
        journal.erase(.timeline, row.number)
        return Stored(.deleted)
    }

    /// Removes a device's timelines, because the device is removed or erased, or has another user.
    mutating func forgetTimelines(ofDevice key: DeviceKey) {
        for slot in timelines.slots(of: .device(key.id), key.tenant) {
            guard let row = timelines[slot] else { continue }
            _ = timelines.remove(row.key)
            journal.erase(.timeline, row.number)
        }
    }

    /// What a command would return now. It stores nothing.
    package func dryRunTimeline(
        _ command: TimelineCommand, of tenant: TenantID
    ) throws(Refusal) -> Stored {
        switch command {
        case .put(let request, let kind):
            let key = try check(request, kind, tenant)
            let known = timelines[key]
            var stored = Stored(known == nil ? .created : .updated)
            stored.lint = Lint.of(request.timeline, types.type(of: key, request.timeline))
            if let shown = changed(known?.timeline, to: request.timeline, of: key) {
                let reached = reload(for: key, shown)
                (stored.count, stored.unreachable) = (reached.slots.count, reached.unreachable)
            }
            return stored
        case .delete(let kind, let app, let subject):
            let key = TimelineKey(
                tenant: tenant, app: try configuration.app(app, of: tenant), kind: kind,
                subject: subject)
            guard timelines[key] != nil else { throw .unknownTimeline(key) }
            return Stored(.deleted)
        }
    }

    /// The devices whose widgets show a timeline: those that can be reloaded now, and the others.
    func reload(
        for key: TimelineKey, _ timeline: Timeline
    ) -> (slots: [DeviceSlot], others: [DeviceSlot], unreachable: Int) {
        let shown = devices(of: key, timeline).filter { isOf(key.app, $0) }
        let slots = shown.filter { devices[$0]?.tokens[.widget] != nil }
        let others = shown.filter { devices[$0]?.tokens[.widget] == nil }
        return (slots, others, others.count)
    }

    private func devices(of key: TimelineKey, _ timeline: Timeline) -> [DeviceSlot] {
        switch key.subject {
        case .user(let user):
            return devices.slots(of: UserKey(tenant: key.tenant, user: user))
        case .device(let id):
            return devices.slot(of: DeviceKey(tenant: key.tenant, id: id)).map { [$0] } ?? []
        case .key:
            return timeline.readers.flatMap {
                devices.slots(of: UserKey(tenant: key.tenant, user: $0))
            }
        }
    }

    // MARK: Time

    /// The time zones that a schedule follows: its own, or those of the devices that show it.
    func zones(of row: StoredTimeline) -> [TimeZoneRules] {
        guard let schedule = row.timeline.schedule else { return [.utc] }
        if case .named(let name) = schedule.zone { return [configuration.zone(name) ?? .utc] }
        let names = Set(
            devices(of: row.key, row.timeline).compactMap { devices[$0]?.registration.timeZone })
        let known = names.sorted().compactMap(configuration.zone)
        return known.isEmpty ? [.utc] : known
    }

    /// How long after the boundary the producer is asked, so that not all are asked at the same
    /// time.
    private func jitter(of key: TimelineKey) -> Span {
        var hash = StableHash()
        for part in [key.tenant.name.rawValue] + key.order { hash.combine(part.utf8) }
        var chance = Chance(hash.value)
        let most = configuration.limits.timelineJitter
        return Span(nanoseconds: Int64(Double(most.nanoseconds) * chance.fraction()))
    }

    private mutating func schedule(_ slot: TimelineSlot, now: Instant) {
        guard let row = timelines[slot] else { return }
        let due = row.nextDue(zones(of: row))
        timelines.ask(slot, at: due.map { $0.at + jitter(of: row.key) })
    }

    /// Handles another user or time zone of a device: its widgets show something else, and
    /// schedules by its clock have other times. The timelines that a former user had on the device
    /// are removed.
    mutating func deviceChanged(
        _ slot: DeviceSlot, since known: DeviceRegistration?, now: Instant
    ) {
        guard let device = devices[slot] else { return }
        let (old, new) = (known, device.registration)
        let hasOtherUser = old.map { !isSameText($0.user, new.user) } ?? false
        guard old == nil || hasOtherUser || old?.timeZone != new.timeZone else { return }
        if hasOtherUser { forgetTimelines(ofDevice: device.key) }
        if device.tokens[.widget] != nil { wantReload(.widget, of: slot, now: now) }
        timelines.move(.device(device.key.id), device.key.tenant)
        if let user = new.user { timelines.move(.user(user), device.key.tenant) }
        if hasOtherUser, let user = old?.user { timelines.move(.user(user), device.key.tenant) }
    }

    /// Maximum number of producers that are asked in one step.
    private static let asksPerStep = 64
    /// Maximum number of timelines whose next date is computed again in one step, at 2 µs each.
    private static let movesPerStep = 1_000

    /// Asks the producers of due timelines, and computes new dates after changes of devices'
    /// clocks.
    mutating func askForTimelines(now: Instant) {
        for _ in 0..<Self.movesPerStep {
            guard let slot = timelines.popMoved() else { break }
            schedule(slot, now: now)
        }
        var count = 0
        while count < Self.asksPerStep, let slot = timelines.popDue(until: wall(now)) {
            guard let row = timelines[slot] else { continue }
            noteWork(on: Record(space: .timeline, number: row.number, value: nil))
            count += 1
            ask(slot, row, now: now)
        }
    }

    private mutating func ask(_ slot: TimelineSlot, _ row: StoredTimeline, now: Instant) {
        var row = row
        var last: StoredTimeline.Due?
        // If several dates have passed while no relay ran, only the newest counts.
        while let due = row.nextDue(zones(of: row)), due.at <= wall(now) {
            last = due
            if due.cause == .boundary, let schedule = row.timeline.schedule {
                let newest = zones(of: row).map { schedule.boundary(notAfter: wall(now), in: $0) }
                row.askedThrough = max(due.at, newest.max() ?? due.at)
            } else {
                row.askedThrough = due.at
            }
        }
        defer { schedule(slot, now: now) }
        guard let last else { return }
        timelines.asked(slot, through: row.askedThrough)
        journal.write(row.record())
        let body = JSON.object { writer in
            writer.member("kind", row.key.kind.rawValue)
            writer.member("app", row.key.app)
            writer.member(row.key.subject.name, row.key.subject.text)
            writer.member("cause", last.cause.rawValue)
            writer.member("at", row.askedThrough.rfc3339)
        }
        note(row.key.tenant, nil, "timeline.due", body.bytes, now: now)
    }

    /// Restores a timeline from its record. Returns a text if the record is damaged.
    mutating func adoptTimeline(_ record: Record, now: Instant) -> [String] {
        timelines.skip(record.number)
        guard let value = record.value else { return [] }
        guard
            var row = StoredTimeline.read(
                value, number: record.number, hash: { deliveryIDs.link($0) })
        else {
            return ["the record of timeline number \(record.number) cannot be read"]
        }
        row.followClock(backTo: wall(now))
        timelines.put(row)
        return []
    }

    /// Schedules all timelines after a restart, when all devices are known.
    mutating func recoverTimelines(now: Instant) {
        for slot in timelines.places { schedule(slot, now: now) }
    }
}
