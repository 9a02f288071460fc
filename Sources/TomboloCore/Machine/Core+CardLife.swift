import TomboloJSON

// The life of a card on a phone. The system ends a card after 8 hours; a new card may replace it
// before that (pacing rules 13 and 14).

extension Core {
    /// Sets the wall clock to the machine's. After a long step the clock was wrong before, and
    /// destinations that wait for a wall time are examined again.
    mutating func followClock(
        to next: Span, now: Instant, _ work: inout StepBudget.Part
    ) {
        let (step, moves) = clock.follow(to: next, now: now)
        // After a crash, the next relay must know by which clock timestamps were made: record it at
        // once.
        defer { if step < .zero || step > RelayClock.leadMax { journal.flushAtOnce() } }
        // Apple refuses provider tokens with a wrong time, so try again with the right one.
        if moves != .zero { upstreams.tryNow(now) }
        guard step < .zero || moves > .zero else { return }
        if step < .zero {
            for slot in destinations.indices where destinations.holds(slot) {
                destinations[slot].followClock(backBy: step)
                // The clock reading in the log does not cover earlier times, so the checkpoint
                // must.
                if destinations[slot][.checkpointIsDirty] { journal.checkpoint(slot) }
            }
            timelines.followClock(backTo: wall(now))
        }
        sweeps.add(.clock, now: now)
        sweep(now: now, &work)
    }

    /// Sends a card's state again if the phone has dropped it because of the clock.
    mutating func correct(_ slot: CardSlot, now: Instant) {
        guard destinations.holds(slot),
            destinations[slot].sendsAgain(projection(slot)?.version, at: time(now))
        else { return }
        scheduleCheckpoint(slot, now: now)
        destinations.deadlines.set(slot, at: now)
    }

    /// The newest timestamp among the cards that are not finished; nil if no card has one. The next
    /// push to that card must have a later one.
    package func newestTimestamp(at wall: Instant) -> Instant? {
        var newest: Int64 = 0
        for slot in destinations.indices
        where destinations.holds(slot) && !destinations[slot].isFinished {
            newest = max(newest, destinations[slot].pacing.taken.counting(at: wall))
        }
        return newest > 0 ? Instant(seconds: newest) : nil
    }

    /// True if pushes have no way to a card that the phone may still show: Apple has refused its
    /// token, and neither has the phone said that the card is over nor has the system ended it.
    func isUnreachable(_ destination: Destination, now: Instant) -> Bool {
        destination.phase == .gone && !destination[.wasDismissed] && !destination.isOverOnPhone
            && devices[destination.device]?.retired[.activity(reference(destination))] != nil
            && cardEnd(destination).map { now < $0 } ?? false
    }

    /// The phase in answers.
    func phaseName(_ destination: Destination, now: Instant) -> String {
        isUnreachable(destination, now: now) ? "unreachable" : destination.phase.name
    }

    /// Since when the system may have ended the destination's card; nil if there is no card yet.
    /// The time in which the machine was off counts, as far as the wall clock tells it.
    func cardEnd(_ destination: Destination) -> Instant? {
        destination.cardSince.map { clock.lifeEnd(configuration.limits.cardLife, since: $0) }
    }

    /// When a card that began at `since` is renewed.
    private func renewsAt(_ since: Instant) -> Instant {
        let limits = configuration.limits
        return clock.agedAt(limits.cardLife - limits.renewBefore, since: since)
    }

    /// Checks a card's age: renews the card, or notes that the system has ended it, which no wall
    /// clock can say. Returns the new card if there is one.
    mutating func age(_ slot: CardSlot, now: Instant) -> CardSlot? {
        guard destinations.holds(slot), let since = destinations[slot].cardSince else {
            return nil
        }
        let hasLapsed = since + configuration.limits.cardLife <= now
        guard hasLapsed || renewsAt(since) <= now,
            !destinations[slot].isFinished, projection(slot)?.ending == nil
        else { return nil }
        if hasLapsed {
            lapse(slot, now: now)
            return nil
        }
        return isToBeRenewed(slot) ? renew(slot, now: now) : nil
    }

    private func hasEnding(_ slot: CardSlot) -> Bool {
        let activity = destinations[slot].activity
        if destinations[slot].rare != nil, let final = destinations[slot].final {
            return final.ending != nil
        }
        return activities[activity].durable?.ending != nil
    }

    /// When a destination must be examined because of its card's age; nil if it need not.
    func agesAt(_ slot: CardSlot) -> Instant? {
        guard let since = destinations[slot].cardSince,
            !destinations[slot].isFinished, !hasEnding(slot)
        else { return nil }
        return isToBeRenewed(slot) ? renewsAt(since) : since + configuration.limits.cardLife
    }

    /// Notes that the system has ended the card, so that later changes cannot be shown.
    mutating func lapse(_ slot: CardSlot, now: Instant) {
        decideRest(slot, .expired, now: now)
        tell(.ended, at: slot, now: now)
        enter(.lapsed, slot, now: now)
    }

    // MARK: Renewal

    /// True if a card may be renewed: it has a route and no successor, and the user has not
    /// dismissed it. Never if the app starts its cards itself, or could not distinguish two of
    /// them.
    private func isToBeRenewed(_ slot: CardSlot) -> Bool {
        guard activities[destinations[slot].activity].definition.renew == .always,
            let destination = destinations.at(slot), destination.phase == .live,
            destination.final == nil, !destination[.wasDismissed]
        else { return false }
        let activity = activities[destination.activity]
        guard activity.definition.route != .adopt,
            idPointer(activity) != nil
        else { return false }
        return !activity.destinations.contains { index in
            destinations.at(index).map { $0.isSuccessor(of: destination) } ?? false
        }
    }

    /// Starts the new card. The old one stays until pushes can reach the new one.
    private mutating func renew(_ slot: CardSlot, now: Instant) -> CardSlot? {
        guard let old = destinations.at(slot), let version = projection(slot)?.version else {
            return nil
        }
        var next = Destination(
            number: destinations.takeNumber(), activity: old.activity, device: old.device,
            incarnation: old.incarnation, renewal: old.renewal + 1, upstream: old.upstream,
            ledger: Ledger(since: version), phaseSince: now)
        // The alerts have already rung on the old card.
        next.alertsThrough = old.alertsThrough
        next[.wasMadeAnew] = old[.wasMadeAnew]
        next.startWaitsSince = wall(now)
        // The renewal was due before the log was restored, so its start may have been sent: send no
        // other.
        if let since = old.cardSince, let restoredAt = clock.restoredAt,
            clock.lifeEnd(
                configuration.limits.cardLife - configuration.limits.renewBefore, since: since)
                <= clock.shownAt(restoredAt, now: now)
        {
            next.phase = .startUnknown
            // The new card may also have got updates, with timestamps that are not known.
            let before = RelayClock.Predecessor(
                reading: restoredAt, toldThrough: restoredAt + RelayClock.reach)
            next.pacing.recover(
                grantInForce(next).grant, after: before, now: now, wall: wall(now))
        }
        // The restored log may lack this card, although the app has registered its token since.
        if let token = devices[old.device]?.tokens[.activity(reference(next))] {
            (next.token, next[.tokenIsNew]) = (token.value, !token.isOnRecord)
            (next.phase, next.cardSince) = (.live, now)
        }
        let place = insert(next)
        if next.phase == .live { endPredecessor(of: place, now: now) }
        journal.checkpoint(place)
        journal.flushSoon(now: now)
        return place
    }

    /// Ends the old card when pushes can reach the new one. The end is sent when it is durable.
    mutating func endPredecessor(of slot: CardSlot, now: Instant) {
        guard let destination = destinations.at(slot), destination.renewal > 0 else { return }
        let old = activities[destination.activity].destinations.first { index in
            destinations.at(index).map { destination.isSuccessor(of: $0) } ?? false
        }
        guard let old, destinations[old].final == nil, !destinations[old].isFinished,
            var final = projection(old), final.ending == nil
        else { return }
        // The new card shows the changes that waited for the old one.
        decideRest(old, .merged, now: now)
        final.apply(
            .end(End(change: .none, dismissal: .now)), version: final.version, at: wall(now))
        destinations[old].echo = Echo()
        destinations[old].final = final
        destinations[old][.awaitsSuccession] = true
        for place in [slot, old] {
            destinations[place][.checkpointIsDirty] = true
            journal.checkpoint(place)
        }
        journal.awaitSuccession(old, destinations[old].number)
    }

    /// True if the card to be replaced is gone before its time, so that the user wants no card.
    func hasLostPlace(_ destination: Destination) -> Bool {
        predecessor(of: destination).map { old in
            old[.wasDismissed] || old.phase == .gone && !isOld(old, at: old.phaseSince)
        } ?? false
    }

    /// The card that `destination` replaces; nil if there is none, or if it ended with its device's
    /// user.
    func predecessor(of destination: Destination) -> Destination? {
        guard destination.renewal > 0 else { return nil }
        let before = activities[destination.activity].destinations.compactMap { index in
            destinations.at(index)
        }.first { destination.isSuccessor(of: $0) }
        return before?.hasBareEnd == true ? nil : before
    }

    /// Lets the successor of a card that is gone be examined now.
    mutating func reviseSuccessor(of slot: CardSlot, now: Instant) {
        guard let destination = destinations.at(slot) else { return }
        for index in activities[destination.activity].destinations
        where destinations[index].isSuccessor(of: destination) {
            destinations.deadlines.set(index, at: now)
        }
    }

    /// When a renewed card without a token counts as stranded: the old card stays, and no other
    /// start follows.
    func strandedAt(_ destination: Destination) -> Instant? {
        guard destination.phase == .started, predecessor(of: destination) != nil else { return nil }
        return destination.cardSince.map { $0 + configuration.limits.strandedAfter }
    }

    func withoutToken(_ destination: Destination, now: Instant) -> WaitReason {
        strandedAt(destination).map { $0 <= now } ?? false ? .stranded : .updateToken
    }

    /// The attributes of a destination's card. They contain the card's name, which a renewal
    /// changes.
    func attributes(_ destination: Destination) -> JSON {
        let activity = activities[destination.activity]
        let attributes = activity.definition.attributes
        guard destination.renewal > 0, let pointer = idPointer(activity) else { return attributes }
        return attributes.setting(pointer, to: .string(reference(destination).text)) ?? attributes
    }

    /// Where the attributes contain the card's name; nil if the type wants no name.
    func idPointer(_ activity: Activity) -> JSONPointer? {
        guard let type = types.type(of: activity.definition, activity.key.tenant) else {
            return ActivityType.defaultIDAt
        }
        return type.idAt
    }

    // MARK: Dead tokens

    /// Handles the dead token of a card. Usually the user has dismissed the card: then nothing
    /// follows, or one new card if the producer wants that. If the card is near the end of its
    /// life, it counts as ended by the system, and the renewal decides what follows.
    mutating func cardGone(_ slot: CardSlot, _ reaches: BlastRadius, now: Instant) {
        guard let destination = destinations.at(slot), destination.phase != .ended else { return }
        let definition = activities[destination.activity].definition
        if reaches == .tokenGone, destination.phase == .live, projection(slot)?.ending == nil {
            tell(isOld(destination, at: now) ? .ended : .lost, at: slot, now: now)
        }
        guard definition.onTokenGone == .restart, reaches == .tokenGone,
            !isOld(destination, at: now), !destination[.wasMadeAnew], definition.route != .adopt,
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
        destinations[slot][.owesTrailing] = false
        destinations[slot].staleAt = nil
        destinations[slot].pacing.unsettledSince = nil
        destinations[slot][.wasMadeAnew] = true
        destinations[slot].startWaitsSince = wall(now)
        enter(.waiting, slot, now: now)
    }

    /// True if `instant` is so near the card's end that the system may have ended it because of its
    /// age.
    private func isOld(_ destination: Destination, at instant: Instant) -> Bool {
        cardEnd(destination).map { $0 - configuration.limits.lastOfCard <= instant } ?? false
    }
}

extension Destination {
    /// True if this is the next card of the same incarnation on the same device. (The caller
    /// compares the activities.)
    func isSuccessor(of other: Destination) -> Bool {
        device == other.device && incarnation == other.incarnation && renewal == other.renewal + 1
    }
}
