// Pushes that Apple has finally refused. They are stored with the cause and can be retried.

extension Core {
    mutating func bury(
        _ slot: CardSlot, _ flying: Destination.InFlight, status: Int, reason: String, now: Instant
    ) {
        guard let destination = destinations.at(slot), !flying.isFrame,
            let device = devices[destination.device]
        else { return }
        let (number, serial) = deadLetters.takeNumber(of: device.key.tenant)
        let letter = DeadLetter(
            number: number, serial: serial,
            activity: activities[destination.activity].key,
            incarnation: destination.incarnation, renewal: destination.renewal,
            device: device.key.id, event: flying.event,
            version: flying.version, status: status, reason: reason,
            apnsID: flying.apnsID.text, at: wall(now))
        journal.write(deadLetters.add(letter))
        journal.flushSoon(now: now)
    }

    /// At most `limit` letters with serials below `before`, newest first; `next` is `before` for
    /// the next page.
    package func deadLetters(
        _ query: DeadLetterQuery, before: Int64?, limit: Int
    ) -> (letters: [DeadLetter], next: Int64?) {
        deadLetters.page(query, before: before, limit: limit)
    }

    /// The serials of the matching letters, divided into pieces that a retry handles one by one.
    package func pieces(of query: DeadLetterQuery) -> [Set<Int64>?] {
        deadLetters.pieces(of: query)
    }

    /// Sends the newest state to the destinations of the matching letters. A letter that cannot be
    /// retried stays.
    mutating func retry(
        _ query: DeadLetterQuery, _ ticket: Ticket, now: Instant
    ) {
        let matching: [DeadLetter]
        do throws(Refusal) {
            matching = try deadLetters.meant(by: query)
        } catch {
            journal.answerNow(ticket, .refused(error))
            return
        }
        var retried: Set<Int64> = []
        var stored = Stored(.updated)
        for letter in matching {
            let slot: CardSlot
            do throws(RetryObstacle) {
                slot = try destination(reviving: letter)
            } catch {
                stored.keep(error)
                continue
            }
            retried.insert(letter.number)
            stored.count += 1
            revive(slot, letter, now: now)
            destinations.wake(slot, now: now)
        }
        journal.write(deadLetters.remove { retried.contains($0.number) })
        journal.answer(ticket, stored)
    }

    /// The result that a retry would have. It sends nothing.
    package func dryRunDeadLetters(_ query: DeadLetterQuery) throws(Refusal) -> Stored {
        var stored = Stored(.updated)
        for letter in try deadLetters.meant(by: query) {
            do throws(RetryObstacle) {
                _ = try destination(reviving: letter)
                stored.count += 1
            } catch {
                stored.keep(error)
            }
        }
        return stored
    }

    private func destination(of letter: DeadLetter) -> CardSlot? {
        guard let activity = activities.slot(of: letter.activity) else { return nil }
        let tenant = letter.activity.tenant
        // A letter names a device or a channel; an activity uses only one device with that name.
        let names = [
            devices.slot(of: DeviceKey(tenant: tenant, id: letter.device)),
            channels.slot(of: ChannelKey(tenant: tenant, name: letter.device)),
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

    /// The destination to which a retry of the letter pushes. Throws the obstacle if no retry is
    /// possible.
    private func destination(reviving letter: DeadLetter) throws(RetryObstacle) -> CardSlot {
        guard let slot = destination(of: letter), let destination = destinations.at(slot) else {
            throw .noCard
        }
        guard destination.inFlight == nil else { throw .pushUnderWay }
        switch (letter.event, destination.phase) {
        case (.start, .waiting):
            guard startToken(destination) != nil else { throw .noStartToken }
        case (.start, .gone):
            // If a card has begun meanwhile, another start would make a second card.
            guard destination[.startWasRefused] || destination[.startWasSkipped] else {
                throw .cardBegun
            }
            guard startToken(destination) != nil else { throw .noStartToken }
        // If the activity ended before its start was sent, there never was a card.
        case (.start, .ended), (.start, .lapsed): throw .cardOver
        case (.start, _): throw .cardBegun
        case (_, .live), (_, .ended), (_, .gone):
            guard destination.token != nil else { throw .noToken }
            guard !destination[.hasForgottenEnd] else { throw .cardOver }
        case (_, .waiting), (_, .starting), (_, .startUnknown), (_, .started): throw .noToken
        case (_, .lapsed): throw .cardOver
        case (_, .listening): throw .onChannel
        }
        return slot
    }

    /// Undoes the effects of the refusal, so that the destination pushes its newest state.
    private mutating func revive(_ slot: CardSlot, _ letter: DeadLetter, now: Instant) {
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
        scheduleCheckpoint(slot, now: now)
    }
}
