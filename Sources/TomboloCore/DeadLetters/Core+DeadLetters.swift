import TomboloJSON

// What Apple refused for good: kept with its cause, and tried again when somebody has mended it.

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

    /// Newest first, below the serial `before`.
    package func deadLetters(
        _ query: DeadLetterQuery, before: Int64?, limit: Int
    ) -> (letters: [DeadLetter], next: Int64?) {
        deadLetters.page(query, before: before, limit: limit)
    }

    /// The serials of the letters that match, in pieces of one step each.
    package func pieces(of query: DeadLetterQuery) -> [Set<Int64>?] {
        deadLetters.pieces(of: query)
    }

    /// Sends the newest state where the matching pushes failed. A letter whose destination is gone
    /// stays: nothing is sent for it, and it is the evidence of what failed.
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

    /// What a retry would come to, with nothing sent.
    package func dryRun(_ query: DeadLetterQuery) throws(Refusal) -> Stored {
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
        // A letter does not say which of the two it is for; an activity goes to one of them.
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

    /// Where it goes again; throws why it cannot.
    private func destination(reviving letter: DeadLetter) throws(RetryObstacle) -> CardSlot {
        guard let slot = destination(of: letter), let destination = destinations.at(slot) else {
            throw .noCard
        }
        guard destination.inFlight == nil else { throw .pushUnderWay }
        switch (letter.event, destination.phase) {
        case (.start, .waiting):
            guard startToken(destination) != nil else { throw .noStartToken }
        case (.start, .gone):
            // Another start would be a second card where one has begun since.
            guard destination.startWasRefused || destination.startWasSkipped else {
                throw .cardBegun
            }
            guard startToken(destination) != nil else { throw .noStartToken }
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
        markDirty(slot, now: now)
    }
}
