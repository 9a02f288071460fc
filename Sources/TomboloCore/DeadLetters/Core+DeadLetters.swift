import TomboloJSON

// What Apple refused for good: kept with its cause, and tried again when somebody has mended it.

extension Core {
    /// A tenant keeps so many, its newest; the facts of the log still tell of the others.
    static let deadLettersMax = 10_000
    /// So many go at once: to find the oldest, all letters are looked at.
    private static let forgottenAtOnce = 100

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
        keep(letter)
        staged.records.append(letter.record())
        serials[device.key.tenant].deadLetters = letter.serial
        forgetOldest(of: device.key.tenant)
        flushSoon(now: now)
    }

    /// One tenant's refusals take no room from another's.
    private mutating func forgetOldest(of tenant: TenantID) {
        var left = Self.forgottenAtOnce
        guard deadLetterCounts[tenant, default: 0] >= Self.deadLettersMax + left else { return }
        forgetDeadLetters { letter in
            guard left > 0, letter.activity.tenant == tenant else { return false }
            left -= 1
            return true
        }
    }

    /// Removes letters from memory and from the log.
    mutating func forgetDeadLetters(where isGone: (DeadLetter) -> Bool) {
        var left: [DeadLetter] = []
        left.reserveCapacity(deadLetters.count)
        for letter in deadLetters {
            guard isGone(letter) else {
                left.append(letter)
                continue
            }
            staged.records.append(Record(space: .deadLetter, number: letter.number, value: nil))
            deadLetterCounts[letter.activity.tenant, default: 0] -= 1
        }
        deadLetters = left
    }

    private mutating func keep(_ letter: DeadLetter) {
        deadLetters.append(letter)
        deadLetterCounts[letter.activity.tenant, default: 0] += 1
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

    /// The serials of the letters that match, in pieces of one step each. All letters of a card
    /// are in one piece, for one push. Letters that come later are in no piece. Where nothing
    /// matches, there is one piece.
    package func pieces(of query: DeadLetterQuery) -> [Set<Int64>?] {
        var places: [DeadLetter.Card: Int] = [:]
        var cards: [[Int64]] = []
        for letter in deadLetters where query.matches(letter) {
            let place = places[letter.card] ?? cards.count
            if place == cards.count {
                places[letter.card] = place
                cards.append([])
            }
            cards[place].append(letter.serial)
        }
        var pieces: [Set<Int64>] = []
        for card in cards {
            if let last = pieces.last, last.count + card.count <= DeadLetterQuery.pieceMax {
                pieces[pieces.count - 1].formUnion(card)
            } else {
                pieces.append(Set(card))
            }
        }
        return pieces.isEmpty ? [query.serials] : pieces
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
        var revived: Set<Int> = []
        for letter in matching {
            let slot: Int
            do throws(RetryObstacle) {
                slot = try destination(reviving: letter)
            } catch {
                stored.keep(error)
                continue
            }
            retried.insert(letter.number)
            stored.count += 1
            revive(slot, letter, now: now)
            revived.insert(slot)
        }
        forgetDeadLetters { retried.contains($0.number) }
        // All of them first: what goes out for one of them is for the others too.
        for slot in revived.sorted() { evaluate(slot, now: now, effects: &effects) }
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
        forgetDeadLetters { $0.event == .start && $0.at <= instant }
    }

    private func destination(of letter: DeadLetter) -> Int? {
        guard let activity = activityByKey[letter.activity] else { return nil }
        let tenant = letter.activity.tenant
        // A letter does not say which of the two it is for; an activity goes to one of them.
        let names = [
            deviceByKey[DeviceKey(tenant: tenant, id: letter.device)],
            channelByKey[ChannelKey(tenant: tenant, name: letter.device)],
            channelDestination(activity).map { destinations[$0].device },
        ]
        for slot in names.compactMap({ $0 }) where devices[slot]?.key.id == letter.device {
            let found = devices[slot]?.destinations.first { index in
                guard let destination = destinations.at(index) else { return false }
                return destination.device == slot && destination.activity == activity
                    && destination.incarnation == letter.incarnation
                    && destination.renewal == letter.renewal
            }
            if let found { return found }
        }
        return nil
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
            guard destination.startWasRefused || destination.startWasSkipped else {
                throw .cardBegun
            }
            guard hasStartRoute(destination) else { throw .noStartToken }
        // One that ended before its start went never had a card.
        case (.start, .ended), (.start, .lapsed): throw .cardOver
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
            destinations[slot].startWaitsSince = wall(now)
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
        keep(letter)
        let tenant = letter.activity.tenant
        serials[tenant].deadLetters = max(serials[tenant].deadLetters, letter.serial)
        return []
    }
}
