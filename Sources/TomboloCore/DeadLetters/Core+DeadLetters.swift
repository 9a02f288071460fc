import TomboloJSON

// What Apple refused for good: kept with its cause, and tried again when somebody has mended it.

extension Core {
    /// Of a tenant: its oldest go beyond this; the facts of the log still tell of them.
    static let deadLettersMax = 10_000

    mutating func bury(
        _ slot: Int, _ flying: Destination.InFlight, status: Int, reason: String, now: Instant
    ) {
        guard let destination = destinations.at(slot), !flying.isFrame,
            let device = devices[destination.device]
        else { return }
        let letter = DeadLetter(
            number: nextDeadLetter, serial: serials[device.key.tenant].deadLetters + 1,
            activity: activities[destination.activity].key,
            incarnation: destination.incarnation, renewal: destination.renewal,
            device: device.key.id, event: flying.event,
            version: flying.version, status: status, reason: reason,
            apnsID: flying.apnsID.text, at: wall(now))
        nextDeadLetter += 1
        deadLetters.append(letter)
        staged.records.append(letter.record())
        serials[device.key.tenant].deadLetters = letter.serial
        forgetOldest(of: device.key.tenant)
        flushSoon(now: now)
    }

    /// One tenant's refusals take no room from another's.
    private mutating func forgetOldest(of tenant: TenantID) {
        guard deadLetters.count > Self.deadLettersMax else { return }
        let own = deadLetters.indices.filter { deadLetters[$0].activity.tenant == tenant }
        guard own.count > Self.deadLettersMax, let oldest = own.first else { return }
        forget(deadLetters.remove(at: oldest))
    }

    private mutating func forget(_ letter: DeadLetter) {
        staged.records.append(Record(space: .deadLetter, number: letter.number, value: nil))
    }

    /// Newest first, below `before`.
    package func deadLetters(
        _ query: DeadLetterQuery, before: Int64?, limit: Int
    ) -> (letters: [DeadLetter], next: Int64?) {
        let page = deadLetters.lazy.reversed()
            .filter { $0.serial < before ?? .max && query.matches($0) }.prefix(limit + 1)
        let letters = Array(page)
        return (
            Array(letters.prefix(limit)), letters.count > limit ? letters[limit - 1].serial : nil
        )
    }

    /// Sends the newest state where the matching pushes failed. A letter whose destination is gone
    /// stays: nothing is sent for it, and it is the evidence of what failed.
    mutating func retry(
        _ query: DeadLetterQuery, _ ticket: Ticket, now: Instant, effects: inout Effects
    ) {
        let matching: [DeadLetter]
        do throws(Refusal) {
            matching = try meant(by: query)
        } catch {
            effects.answers.append((ticket, .refused(error)))
            return
        }
        var retried: Set<Int64> = []
        var stored = Stored(.updated)
        var revived: [Int] = []
        for letter in matching {
            let slot: Int
            do throws(RetryObstacle) {
                slot = try destination(reviving: letter)
            } catch {
                stored.keep(error)
                continue
            }
            forget(letter)
            retried.insert(letter.number)
            stored.count += 1
            revive(slot, letter, now: now)
            if !revived.contains(slot) { revived.append(slot) }
        }
        deadLetters.removeAll { retried.contains($0.number) }
        // All of them first: what goes out for one of them is for the others too.
        for slot in revived { evaluate(slot, now: now, effects: &effects) }
        staged.stored.append((ticket, stored))
    }

    private func meant(by query: DeadLetterQuery) throws(Refusal) -> [DeadLetter] {
        let matching = deadLetters.filter(query.matches)
        guard matching.isEmpty, query.serial != nil || query.apnsID != nil else { return matching }
        throw Refusal(
            .unknownDeadLetter,
            "no such dead letter; it was retried before, or is too old: GET /v1/dead-letters")
    }

    /// What a retry would come to, with nothing sent.
    package func dryRun(_ query: DeadLetterQuery) throws(Refusal) -> Stored {
        var stored = Stored(.updated)
        for letter in try meant(by: query) {
            do throws(RetryObstacle) {
                _ = try destination(reviving: letter)
                stored.count += 1
            } catch {
                stored.keep(error)
            }
        }
        return stored
    }

    /// After a restore: a refused start may have been retried since, and its card begun.
    mutating func forgetRefusedStarts(before instant: Instant) {
        for letter in deadLetters where letter.event == .start && letter.at <= instant {
            forget(letter)
        }
        deadLetters.removeAll { $0.event == .start && $0.at <= instant }
    }

    private func destination(of letter: DeadLetter) -> Int? {
        guard let activity = activityByKey[letter.activity] else { return nil }
        let device = DeviceKey(tenant: letter.activity.tenant, id: letter.device)
        guard let device = deviceByKey[device] else { return nil }
        return activities[activity].destinations.first {
            destinations[$0].device == device
                && destinations[$0].incarnation == letter.incarnation
                && destinations[$0].renewal == letter.renewal
        }
    }

    /// Where it goes again; throws why it cannot.
    private func destination(reviving letter: DeadLetter) throws(RetryObstacle) -> Int {
        guard let slot = destination(of: letter), let destination = destinations.at(slot) else {
            throw .noCard
        }
        guard destination.inFlight == nil else { throw .pushUnderWay }
        switch (letter.event, destination.phase) {
        case (.start, .waiting):
            guard hasStartRoute(destination) else { throw .noStartToken }
        case (.start, .gone):
            // Another start would be a second card where one has begun since.
            guard destination.startWasRefused else { throw .cardBegun }
            guard hasStartRoute(destination) else { throw .noStartToken }
        case (.start, _): throw .cardBegun
        case (_, .live), (_, .ended), (_, .gone):
            guard destination.token != nil else { throw .noToken }
            guard !destination.hasForgottenEnd else { throw .cardOver }
        case (_, .waiting), (_, .starting), (_, .startUnknown), (_, .started): throw .noToken
        case (_, .lapsed): throw .cardOver
        case (_, .listening): throw .onChannel
        }
        return slot
    }

    /// Takes back what the refusal led to, where it can be.
    private mutating func revive(_ slot: Int, _ letter: DeadLetter, now: Instant) {
        guard let destination = destinations.at(slot) else { return }
        if letter.event == .start {
            enter(.waiting, slot, now: now)
            destinations[slot].alertsThrough = min(destination.alertsThrough, letter.version - 1)
        } else {
            enter(.live, slot, now: now)
        }
        destinations[slot].acknowledged = min(destination.acknowledged, letter.version - 1)
        destinations[slot].contentHash = 0
        markDirty(slot, now: now)
    }

    mutating func adoptDeadLetter(_ record: Record) -> [String] {
        nextDeadLetter = max(nextDeadLetter, record.number + 1)
        guard let value = record.value else { return [] }
        guard let letter = DeadLetter(record: value, number: record.number) else {
            return ["dead letter number \(record.number) cannot be read"]
        }
        deadLetters.append(letter)
        let tenant = letter.activity.tenant
        serials[tenant].deadLetters = max(serials[tenant].deadLetters, letter.serial)
        return []
    }
}
