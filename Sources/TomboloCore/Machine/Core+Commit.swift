// Writing: batches go to the log, and take effect when they are durable.

extension Core {
    /// True if `takeBatch` would return a batch.
    package func hasBatch(now: Instant, writesAll: Bool = false) -> Bool {
        journal.hasBatch(now: now, writesAll: writesAll)
    }

    /// True if the pending batch is large enough for one commit. Later requests of producers must
    /// wait for the next batch.
    package var hasFullBatch: Bool { journal.isFull }

    /// The next batch; nil if there is none, or if one is being written. The shell stores it, then
    /// sends `.committed`.
    ///
    /// - Parameter writesAll: true before a stop: the batch then includes all that could wait.
    package mutating func takeBatch(now: Instant, writesAll: Bool = false) -> AppendBatch? {
        // Reports of left-out facts must not come later than the checkpoints of this batch.
        journal.sayWhatIsLeftOut(clock, now: now, all: writesAll)
        guard journal.hasBatch(now: now, writesAll: writesAll) else { return nil }
        reserveAhead(now: now)
        let (taken, checkpoints) = journal.takeBatch(now: now, writesAll: writesAll) {
            [activities] in
            activities[$0.slot].accepted.version != $0.version
        }
        var batch = AppendBatch()
        var seen: Set<ActivitySlot> = []
        var changed = taken.rewritten
        batch.events.reserveCapacity(taken.events.count)
        for index in taken.events.indices {
            batch.events.append(taken.events[index].event)
            if taken.events[index].event.kind == .start {
                changed.insert(taken.events[index].activity)
                if let number = activities.replacedNumber(by: taken.events[index].activity) {
                    batch.replaced.append(number)
                }
            }
        }
        for slot in taken.touched where seen.insert(slot).inserted {
            let head = ActivityHead(of: activities[slot], follows: !changed.contains(slot))
            batch.heads.append(head)
        }
        batch.facts = taken.facts
        let owed = owedReloads(of: taken)
        journal.owe(owed)
        // `taken.records` may delete records that `owed` writes again, so `owed` comes last.
        batch.records = taken.records + takeCheckpoints(checkpoints, now: now) + owed.map(\.record)
        batch.retired = taken.retired.map(\.activity)
        return batch
    }

    private mutating func takeCheckpoints(_ slots: [CardSlot], now: Instant) -> [Record] {
        var records: [Record] = []
        records.reserveCapacity(slots.count)
        for slot in slots {
            guard let destination = destinations.at(slot), destination[.checkpointIsDirty] else {
                continue
            }
            destinations[slot][.checkpointIsDirty] = false
            destinations[slot][.checkpointMayWait] = false
            let device = destination.device
            let value = destination.checkpoint(
                activity: activities[destination.activity].number.rawValue,
                device: devices[device]?.number ?? 0,
                budget: devices.budgets[device], now: now, wall: wall(now))
            records.append(Record(space: .checkpoint, number: destination.number, value: value))
        }
        return records
    }

    /// Notes that a destination's checkpoint is outdated. It is written with the next batch, or
    /// soon.
    ///
    /// - Parameter mayWait: true if only an update was sent: without the checkpoint, the same state
    ///   is sent again after a crash, which does no harm.
    mutating func scheduleCheckpoint(_ slot: CardSlot, mayWait: Bool = false, now: Instant) {
        guard destinations.holds(slot) else { return }
        if destinations[slot][.checkpointIsDirty] {
            guard !mayWait, destinations[slot][.checkpointMayWait] else { return }
        }
        destinations[slot][.checkpointIsDirty] = true
        destinations[slot][.checkpointMayWait] = mayWait
        journal.checkpointLater(slot, mayWait: mayWait, now: now)
    }

    /// The newest durable sequence numbers.
    package var lastSeq: Int64 { journal.lastSeq }
    package var lastFactSeq: Int64 { journal.lastFactSeq }
    /// The number of the newest fact, durable or not.
    package var knownFactSeq: Int64 { journal.knownFactSeq }

    /// Lets the pending facts be written at `instant` at the latest.
    package mutating func writeFacts(at instant: Instant) { journal.flushFacts(at: instant) }

    mutating func committed(_ commit: AppendReceipt, now: Instant, effects: inout Effects) {
        guard let batch = journal.committed(commit) else { return }
        var affected: [ActivitySlot] = []
        for index in batch.events.indices {
            let seq = commit.firstSeq + Int64(index)
            let tenantSeq = commit.tenantSeqs[index]
            becomeDurable(batch.events.span[index], seq: seq, tenantSeq: tenantSeq, now: now)
            affected.append(batch.events.span[index].activity)
        }
        idempotency.forget(before: now - configuration.limits.idempotency)
        for one in batch.reservations where isStill(one) {
            if destinations[one.slot].reservation == .pending {
                destinations[one.slot].reservation = .granted
            }
            // An attempt that keeps a place at its upstream can be sent, so it is examined in this
            // step. There are never more such attempts than places.
            if destinations[one.slot][.keepsPlace] {
                destinations.wakeFirst(one.slot)
            } else {
                destinations.wake(one.slot, now: now)
            }
        }
        for one in batch.clockWaits where isStill(one) { destinations.wake(one.slot, now: now) }
        for one in batch.successions where isStill(one) {
            destinations[one.slot][.awaitsSuccession] = false
            destinations.wake(one.slot, now: now)
        }
        useTokens(batch.tokens, now: now)
        for slot in batch.surfaceReservations where surfaces[slot].phase == .reserving {
            surfaces[slot].phase = .granted
            surfaces.wake(slot, now: now)
        }
        var seen: Set<ActivitySlot> = []
        for one in batch.owed { surfaces.owe(one.number, wishes(of: one)) }
        for slot in affected where seen.insert(slot).inserted {
            for card in activities[slot].destinations {
                // Its reservation has woken it. A second look would find its own push in flight,
                // and wait for it.
                let isWoken =
                    destinations[card][.keepsPlace] && destinations[card].reservation == .granted
                if !isWoken { destinations.wakeFirst(card) }
            }
        }
        // The answer to a request that changed nothing contains decisions of its cards: make them
        // now.
        for case .standing(let slot, _, _) in batch.waiting where seen.insert(slot).inserted {
            for destination in activities[slot].destinations {
                destinations.wakeFirst(destination)
            }
        }
        lookAtWoken(.turns, now: now, effects: &effects)
        answer(batch, commit, now: now)
        leave(batch.retired, now: now)
    }

    /// True if the slot still belongs to the reservation's destination.
    private func isStill(_ reservation: JournalBatch.Reservation) -> Bool {
        destinations.holds(reservation.slot)
            && destinations[reservation.slot].number == reservation.destination
    }

    /// The numbers of the tenant's newest durable event and fact; 0 if it has none.
    package func place(of tenant: TenantID) -> LogPlace { journal.place(of: tenant) }

    private mutating func becomeDurable(
        _ pending: JournalBatch.Event, seq: Int64, tenantSeq: Int64, now: Instant
    ) {
        let slot = pending.activity
        let isNewIncarnation = activities[slot].durableIncarnation != pending.incarnation
        if isNewIncarnation { leaveIncarnation(slot) }
        if let start = pending.definition {
            audiences.noteComing(
                -1, start.audience, cards: devices.cards(of: start.audience, pending.event.tenant),
                of: pending.event.tenant)
        }
        noteSuperseded(pending)
        activities[slot].durable = pending.projection
        activities[slot].seq = seq
        activities[slot].tenantSeq = tenantSeq
        if let alert = pending.projection.alert, alert.version == pending.projection.version {
            activities[slot].comingAlerts.removeAll { $0.version <= alert.version }
            activities[slot].alerts.append(alert)
            if activities[slot].alerts.count > Alert.waitingMax { dropAlert(of: slot, now: now) }
        }
        if let key = pending.event.idempotency {
            idempotency.record(pending.event.tenant, key, seq: seq, at: now)
        }
        if isNewIncarnation {
            activities.mend(slot)
            activities[slot].began(pending.definition, incarnation: pending.incarnation)
            enterAudience(slot, now: now)
        }
        let spokeAt = clock.shownAt(pending.event.recordedAt, now: now)
        activities.silences.set(slot, at: activities[slot].endsBySilence(since: spokeAt))
        if pending.projection.ending != nil {
            leaveAudience(slot)
            retireLater(slot, now: now)
        }
    }

    /// Destinations of the earlier incarnation keep its last state, which they may still have to
    /// deliver.
    private mutating func leaveIncarnation(_ slot: ActivitySlot) {
        let last = activities[slot].durable
        activities[slot].alerts = []
        for destination in activities[slot].destinations
        where destinations[destination].final == nil {
            destinations[destination].final = last
        }
    }

    private mutating func answer(
        _ batch: JournalBatch, _ commit: AppendReceipt, now: Instant
    ) {
        for (ticket, stored) in batch.stored { journal.answerNow(ticket, .stored(stored)) }
        // Several changes of an activity with many cards share one examination of the cards.
        var known: [ActivitySlot: Accepted] = [:]
        for waiting in batch.waiting {
            switch waiting {
            case .event(let index, let ticket):
                let answer = answer(to: index, of: batch, commit, &known, now: now)
                journal.answerNow(ticket, .accepted(answer))
            case .events(let indices, let ticket):
                let answers = indices.map {
                    answer(to: $0, of: batch, commit, &known, now: now)
                }
                journal.answerNow(ticket, .acceptedAll(answers))
            case .standing(let slot, let kind, let ticket):
                stand(slot, kind, ticket, now: now)
            }
        }
    }

    /// From this number of cards on, it is worth keeping the result of an examination.
    private static let largeCards = 16

    private func answer(
        to index: Int, of batch: JournalBatch, _ commit: AppendReceipt,
        _ known: inout [ActivitySlot: Accepted], now: Instant
    ) -> Accepted {
        let (slot, kind) = (batch.events.span[index].activity, batch.events.span[index].event.kind)
        var answer: Accepted
        if kind != .start, let before = known[slot] {
            answer = before
            answer.kind = kind
        } else {
            answer = accepted(slot, kind, changed: true, now: now)
            let isLarge = activities[slot].destinations.count >= Self.largeCards
            if isLarge, kind != .start { known[slot] = answer }
        }
        answer.seq = commit.firstSeq + Int64(index)
        answer.tenantSeq = commit.tenantSeqs[index]
        answer.factSeq = place(of: batch.events.span[index].event.tenant).fact
        answer.version = batch.events.span[index].event.expectedVersion + 1
        answer.lint = batch.events.span[index].lint
        if let plan = batch.events.span[index].plan, let grant = answer.grant {
            let projection = batch.events[index].projection
            answer.clip = projection.clip?.name
            answer.plan = self.plan(
                plan.clip, payloadBytes: plan.payloadBytes, projection, activities[slot],
                grant)
        }
        return answer
    }

    /// True if the phone has the whole state, not only the same visible part.
    private func showsAll(_ slot: CardSlot) -> Bool {
        guard destinations[slot].visibleHash != nil, let projection = projection(slot) else {
            return true
        }
        return contentHash(projection, projection.state) == destinations[slot].contentHash
    }

    /// The content of an answer: the activity's state, and the decision of the slowest destination.
    func accepted(
        _ slot: ActivitySlot, _ kind: EventKind, changed: Bool, now: Instant
    ) -> Accepted {
        var counts = DestinationCounts()
        var slowest: (decision: Decision, upstream: UpstreamNumber)?
        var (skip, isReserved): (Skip?, Bool) = (nil, false)
        var grant: GrantInForce?
        let incarnation = activities[slot].durableIncarnation
        for index in activities[slot].destinations
        where destinations.holds(index) && destinations[index].incarnation == incarnation {
            let own = grantInForce(index)
            if grant.map({ $0.grant.frameInterval < own.grant.frameInterval }) ?? true {
                grant = own
            }
            guard let waiting = destinations[index].waiting else {
                let version = activities[slot].durable?.version ?? 0
                if reaches(version, index) {
                    let last = destinations[index].lastDelivery
                    // Until Apple has answered, nobody knows whether it takes the push.
                    let isOpen =
                        last.map { $0.result == nil } ?? (destinations[index].inFlight != nil)
                    if isOpen { counts.sending += 1 } else { counts.sent += 1 }
                    isReserved = isReserved || last?.keepsBack(version) == true
                } else if destinations[index].phase == .listening {
                    counts.byChannel += 1
                } else {
                    counts.skipped += 1
                    if destinations[index].acknowledged >= version {
                        let isPassed = activities[slot].superseded.contains(version)
                        let same: Skip = showsAll(index) ? .unchanged : .notVisible
                        skip = skip ?? (isPassed ? .superseded : same)
                    } else {
                        skip = destinations[index].skipWithoutCard ?? skip
                    }
                }
                continue
            }
            counts.add(waiting)
            if slowest.map({ $0.decision.slowness < waiting.slowness }) ?? true {
                slowest = (waiting, destinations[index].upstream)
            }
        }
        if kind == .start {
            let left = leftOut(slot, besides: counts.total)
            if left > 0 { (skip, counts.skipped) = (.noRoute, counts.skipped + left) }
        }
        let skipped = counts.sent + counts.sending == 0 ? skip.map { Decision.skipped($0) } : nil
        return Accepted(
            activity: activities[slot].key.id, seq: activities[slot].seq,
            tenantSeq: activities[slot].tenantSeq,
            factSeq: place(of: activities[slot].key.tenant).fact,
            version: activities[slot].durable?.version ?? 0,
            status: status(slot), kind: kind, changed: changed,
            grant: grant
                ?? GrantInForce(budgetClass: .standard, grant: configuration.budgets[.standard]),
            decision: slowest.flatMap { told($0.decision, $0.upstream, now: now)?.forProducer }
                ?? (isReserved ? .sent(isReserved: true) : skipped),
            trouble: slowest.flatMap { upstreams[$0.upstream].trouble }, destinations: counts,
            clip: nil, plan: nil)
    }

    /// True if a push has delivered the version or is in flight with it. False if no push was
    /// needed. After a restart, when the last push is not known, the latter counts as true, too.
    private func reaches(_ version: Int64, _ slot: CardSlot) -> Bool {
        guard let last = destinations[slot].lastDelivery else {
            return destinations[slot].acknowledged >= version
                || destinations[slot].inFlight.map { $0.version >= version } ?? false
        }
        return last.version >= version
            || destinations[slot].inFlight.map { $0.version >= version } ?? false
    }

    func status(_ slot: ActivitySlot) -> ActivityStatus {
        guard activities[slot].durable != nil else { return .waiting }
        if activities[slot].durable?.ending != nil { return .ended }
        let reached = activities[slot].destinations.contains { index in
            guard destinations.holds(index) else { return false }
            switch destinations[index].phase {
            case .starting, .startUnknown, .started, .live, .listening: return true
            case .waiting: return destinations.at(index).flatMap { startToken($0) } != nil
            case .ended, .gone, .lapsed: return false
            }
        }
        return reached ? .active : .waiting
    }
}
