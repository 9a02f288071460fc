import TomboloJSON

// A card's life on a phone: the system ends it after 8 hours, and a new one may take its place
// before that (pacing rules 13 and 14).

extension Core {
    /// Follows the machine's clock. A long step shows that it was wrong until now: cards are as old
    /// as they were, and what goes by the clock goes on.
    mutating func followClock(to next: Span, now: Instant) {
        let before = wall(now)
        let (step, moves) = clock.follow(to: next, now: now)
        // A later relay must know by which clock timestamps go.
        defer { if step < .zero || step > RelayClock.leadMax { journal.flushAtOnce() } }
        // Apple refuses the provider tokens of a wrong clock.
        if moves != .zero { upstreams.tryNow(now) }
        moveCards(by: moves, through: moves < .zero ? .distantFuture : before, now: now)
        guard step < .zero || moves > .zero else { return }
        for slot in destinations.indices where destinations.holds(slot) {
            if step < .zero {
                destinations[slot].followClock(backBy: step)
                // The reading that goes on record tells nothing of the times before.
                if destinations[slot].markIsDirty { journal.checkpoint(slot) }
            }
            if destinations[slot].sendsAgain(projection(slot)?.version, at: time(now)) {
                markDirty(slot, now: now)
                destinations.deadlines.set(slot, at: now)
            }
        }
        if step < .zero { timelines.followClock(backTo: wall(now)) }
    }

    /// - Parameter wall: cards that began later than this began by another clock.
    mutating func moveCards(
        by step: Span, through wall: Instant = .distantFuture, now: Instant
    ) {
        guard step != .zero else { return }
        for slot in destinations.indices where destinations.holds(slot) {
            guard let since = destinations[slot].cardSince, since <= wall else { continue }
            destinations[slot].cardSince = since + step
            markDirty(slot, now: now)
        }
    }

    /// The newest timestamp that a running card has and that its next push has to pass; nil where
    /// no card has one.
    package func newestTimestamp(at wall: Instant) -> Instant? {
        destinations.indices.lazy.compactMap { slot -> Int64? in
            guard let destination = destinations.at(slot), !destination.isFinished else {
                return nil
            }
            return destination.pacing.taken.counting(at: wall)
        }.max().flatMap { $0 > 0 ? Instant(seconds: $0) : nil }
    }

    /// When the system ends a destination's card; nil before there is one.
    func cardEnd(_ destination: Destination) -> Instant? {
        destination.cardSince.map { clock.steady($0 + configuration.limits.cardLife) }
    }

    /// What time alone does to a card: it gets its successor, or is over. Answers the successor.
    mutating func age(_ slot: CardSlot, now: Instant) -> CardSlot? {
        guard destinations.holds(slot), let since = destinations[slot].cardSince else {
            return nil
        }
        let end = clock.steady(since + configuration.limits.cardLife)
        guard end - configuration.limits.renewBefore <= now,
            !destinations[slot].isFinished, projection(slot)?.ending == nil
        else { return nil }
        if end <= now {
            lapse(slot, now: now)
            return nil
        }
        guard isToBeRenewed(slot) else { return nil }
        return renew(slot, now: now)
    }

    /// Whether what a destination shows has ended.
    private func hasEnding(_ slot: CardSlot) -> Bool {
        let activity = destinations[slot].activity
        if destinations[slot].rare != nil, let final = destinations[slot].final {
            return final.ending != nil
        }
        return activities[activity].durable?.ending != nil
    }

    /// When a destination is to be looked at for its card's sake, whatever else it waits for.
    func agesAt(_ slot: CardSlot) -> Instant? {
        guard let since = destinations[slot].cardSince,
            !destinations[slot].isFinished, !hasEnding(slot)
        else { return nil }
        let end = clock.steady(since + configuration.limits.cardLife)
        return isToBeRenewed(slot) ? end - configuration.limits.renewBefore : end
    }

    /// The system has ended the card: what comes now shows nowhere.
    mutating func lapse(_ slot: CardSlot, now: Instant) {
        decideRest(slot, .expired, now: now)
        tell(.ended, at: slot, now: now)
        enter(.lapsed, slot, now: now)
    }

    // MARK: Renewal

    /// Only a card that has its route is renewed, once, and never one that the app began itself or
    /// whose app could not tell the new card from the old.
    private func isToBeRenewed(_ slot: CardSlot) -> Bool {
        guard activities[destinations[slot].activity].definition.renew == .always,
            let destination = destinations.at(slot), destination.phase == .live,
            destination.final == nil, !destination.wasDismissed
        else { return false }
        let activity = activities[destination.activity]
        guard activity.definition.route != .adopt,
            idPointer(activity) != nil
        else { return false }
        return !activity.destinations.contains { index in
            destinations.at(index).map { $0.isSuccessor(of: destination) } ?? false
        }
    }

    /// The new card first: the old one stays until the new one has its route.
    private mutating func renew(_ slot: CardSlot, now: Instant) -> CardSlot? {
        guard let old = destinations.at(slot), let version = projection(slot)?.version else {
            return nil
        }
        var next = Destination(
            number: destinations.takeNumber(), activity: old.activity, device: old.device,
            incarnation: old.incarnation, renewal: old.renewal + 1, lane: old.lane,
            ledger: Ledger(since: version), phaseSince: now)
        // Its alerts have rung with the old card.
        next.alertsThrough = old.alertsThrough
        next.wasMadeAnew = old.wasMadeAnew
        next.startWaitsSince = wall(now)
        // Due before the log was put back: it may have been started, and is not started again.
        if let since = old.cardSince, let restoredAt = clock.restoredAt,
            since + configuration.limits.cardLife - configuration.limits.renewBefore <= restoredAt
        {
            next.phase = .startUnknown
            // And it may have had updates, whose timestamps nobody knows.
            let before = RelayClock.Predecessor(
                reading: restoredAt, toldThrough: restoredAt + RelayClock.reach)
            next.pacing.recover(
                grantInForce(next).grant, after: before, now: now, wall: wall(now))
        }
        // A restored log may not know the card whose token its app has registered since.
        if let token = devices[old.device]?.tokens[.activity(reference(next))] {
            (next.token, next.tokenIsNew) = (token.value, !token.isOnRecord)
            (next.phase, next.cardSince) = (.live, wall(now))
        }
        let place = insert(next)
        if next.phase == .live { endPredecessor(of: place, now: now) }
        journal.checkpoint(place)
        journal.flushSoon(now: now)
        return place
    }

    /// A new card has its route: the one before it goes away, when that is on record.
    mutating func endPredecessor(of slot: CardSlot, now: Instant) {
        guard let destination = destinations.at(slot), destination.renewal > 0 else { return }
        let old = activities[destination.activity].destinations.first { index in
            destinations.at(index).map { destination.isSuccessor(of: $0) } ?? false
        }
        guard let old, destinations[old].final == nil, !destinations[old].isFinished,
            var final = projection(old), final.ending == nil
        else { return }
        // What waited here goes to the new card.
        decideRest(old, .merged, now: now)
        final.apply(
            .end(End(change: .none, dismissal: .now)), version: final.version, at: wall(now))
        destinations[old].echo = Echo()
        destinations[old].final = final
        destinations[old].awaitsSuccession = true
        for place in [slot, old] {
            destinations[place].markIsDirty = true
            journal.checkpoint(place)
        }
        journal.awaitSuccession(old, destinations[old].number)
    }

    /// Whether the card whose place it is to take is gone before its time: then there is none to
    /// take.
    func hasLostPlace(_ destination: Destination) -> Bool {
        predecessor(of: destination).map { old in
            old.wasDismissed || old.phase == .gone && !isOld(old, at: old.phaseSince)
        } ?? false
    }

    /// The card whose place it takes. One that ended with its device's user leaves none.
    func predecessor(of destination: Destination) -> Destination? {
        guard destination.renewal > 0 else { return nil }
        let before = activities[destination.activity].destinations.lazy.compactMap { index in
            destinations.at(index)
        }.first { destination.isSuccessor(of: $0) }
        return before?.hasBareEnd == true ? nil : before
    }

    /// A card is gone: its successor, if it has not been tried, is looked at again.
    mutating func reviseSuccessor(of slot: CardSlot, now: Instant) {
        guard let destination = destinations.at(slot) else { return }
        for index in activities[destination.activity].destinations
        where destinations[index].isSuccessor(of: destination) {
            destinations.deadlines.set(index, at: now)
        }
    }

    /// A new card that has not shown up in time: the old one stays, and there is no second try.
    func strandedAt(_ destination: Destination) -> Instant? {
        guard destination.phase == .started, predecessor(of: destination) != nil else { return nil }
        return destination.cardSince.map { clock.steady($0 + configuration.limits.strandedAfter) }
    }

    /// What holds the newest state back from a card without an update token.
    func withoutToken(_ destination: Destination, now: Instant) -> Hold {
        strandedAt(destination).map { $0 <= now } ?? false ? .stranded : .updateToken
    }

    /// The attributes of a destination's card: a renewed one has a name of its own.
    func attributes(_ destination: Destination) -> JSON {
        let activity = activities[destination.activity]
        let attributes = activity.definition.attributes
        guard destination.renewal > 0, let pointer = idPointer(activity) else { return attributes }
        var writer = JSONWriter()
        writer.string(reference(destination).text)
        return attributes.setting(pointer, to: JSON(unchecked: writer.bytes)) ?? attributes
    }

    /// Where the app reads the relay's id of its activity; nil where the type opted out.
    private func idPointer(_ activity: Activity) -> JSONPointer? {
        guard let type = types.type(of: activity.definition, activity.key.tenant) else {
            return ActivityType.defaultIDAt
        }
        return type.idAt
    }

    // MARK: A token that is gone

    /// The token of a card is dead: it was swiped away, as a rule, and is left alone; or the
    /// producer wants a new card, which is made once. Shortly before its end by age a card is not
    /// lost: what follows is renewal's business.
    mutating func cardGone(_ slot: CardSlot, _ reaches: BlastRadius, now: Instant) {
        guard let destination = destinations.at(slot), destination.phase != .ended else { return }
        let definition = activities[destination.activity].definition
        if reaches == .tokenGone, destination.phase == .live, projection(slot)?.ending == nil {
            tell(isOld(destination, at: now) ? .ended : .lost, at: slot, now: now)
        }
        guard definition.onTokenGone == .restart, reaches == .tokenGone,
            !isOld(destination, at: now), !destination.wasMadeAnew, definition.route != .adopt,
            destination.phase == .live,
            destination.final == nil, projection(slot)?.ending == nil
        else {
            enter(.gone, slot, now: now)
            reviseSuccessor(of: slot, now: now)
            return
        }
        destinations[slot].acknowledged = 0
        destinations[slot].contentHash = 0
        destinations[slot].cardSince = nil
        destinations[slot].owesTrailing = false
        destinations[slot].staleAt = nil
        destinations[slot].pacing.unsettledSince = nil
        destinations[slot].wasMadeAnew = true
        destinations[slot].startWaitsSince = wall(now)
        enter(.waiting, slot, now: now)
    }

    /// Whether a token that dies then does so because the system ends the card for its age.
    private func isOld(_ destination: Destination, at instant: Instant) -> Bool {
        cardEnd(destination).map { $0 - configuration.limits.lastOfCard <= instant } ?? false
    }
}

extension Destination {
    /// Whether it is the next card of the same incarnation on the same device.
    func isSuccessor(of other: Destination) -> Bool {
        device == other.device && incarnation == other.incarnation && renewal == other.renewal + 1
    }
}
