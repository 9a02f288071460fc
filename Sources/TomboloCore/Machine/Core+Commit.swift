// To the disk and back: batches go out, and what they hold becomes true when they are durable.

/// What is to become durable together.
package struct PendingBatch: Sendable {
    package var events: [NewEvent] = []
    package var heads: [ActivityHead] = []
    package var facts: [NewFact] = []
    package var records: [Record] = []
    package var retired: [RetiredActivity] = []

    package init() {}
}

extension Core {
    /// Whether `takeBatch` has something.
    package func hasBatch(now: Instant, writesAll: Bool = false) -> Bool {
        guard committing == nil, !staged.isEmpty else { return false }
        return writesAll || staged.isUrgent || staged.flushAt.map { $0 <= now } ?? true
    }

    /// The next batch, if there is one and none is on its way. The shell stores it, then says
    /// `.committed`.
    ///
    /// - Parameter writesAll: also what could wait: the relay is about to stop.
    package mutating func takeBatch(now: Instant, writesAll: Bool = false) -> PendingBatch? {
        guard hasBatch(now: now, writesAll: writesAll) else { return nil }
        var batch = PendingBatch()
        batch.events = staged.events.map(\.event)
        var seen: Set<Int> = []
        var changed = staged.rewritten
        for event in staged.events where event.event.kind == .start {
            changed.insert(event.activity)
        }
        for slot in staged.touched where seen.insert(slot).inserted {
            var head = activities[slot].head()
            head.follows = !changed.contains(slot)
            batch.heads.append(head)
        }
        batch.facts = staged.facts
        let late = writesAll ? staged.lateMarks.count : Self.lateMarksMax
        batch.records =
            staged.records
            + takeMarks(staged.dirtyMarks + staged.lateMarks.prefix(late), now: now)
        batch.retired = staged.retired.map(\.activity)
        let rest = staged.lateMarks.dropFirst(late)
        staged.lateMarks = []
        committing = staged
        staged = Staged()
        if !rest.isEmpty {
            staged.lateMarks = Array(rest)
            staged.flushAt = now + Self.lateMarksPause
        }
        return batch
    }

    /// So many late marks go with one batch: ten thousand clips would else hold each other's frames
    /// up while their marks are written.
    static let lateMarksMax = 256
    /// After such a batch the next waits so long.
    static let lateMarksPause = Span.milliseconds(20)

    private mutating func takeMarks(_ slots: [Int], now: Instant) -> [Record] {
        var records: [Record] = []
        records.reserveCapacity(slots.count)
        for slot in slots {
            guard let destination = destinations[slot], destination.markIsDirty else { continue }
            destinations[slot]?.markIsDirty = false
            let device = destination.device
            let value = destination.mark(
                activity: activities[destination.activity].number.rawValue,
                device: devices[device]?.number ?? 0,
                budget: devices.budgets[device], wall: wall(now))
            records.append(Record(space: .mark, number: destination.number, value: value))
        }
        return records
    }

    /// Something of the destination is to be remembered; it is written with the next batch, or
    /// soon.
    mutating func markDirty(_ slot: Int, now: Instant) {
        guard destinations.holds(slot), !destinations[lent: slot].markIsDirty else { return }
        destinations[slot]?.markIsDirty = true
        staged.lateMarks.append(slot)
        flushSoon(now: now)
    }

    mutating func flushSoon(now: Instant) {
        if staged.flushAt == nil { staged.flushAt = now + configuration.limits.markFlush }
    }

    mutating func committed(
        firstSeq: Int64, firstFactSeq: Int64, now: Instant, effects: inout Effects
    ) {
        guard let batch = committing else { return }
        committing = nil
        var affected: [Int] = []
        for (index, event) in batch.events.enumerated() {
            let seq = firstSeq + Int64(index)
            becomeDurable(event, seq: seq, now: now)
            affected.append(event.activity)
        }
        lastSeq = max(lastSeq, firstSeq + Int64(batch.events.count) - 1)
        lastFactSeq = max(lastFactSeq, firstFactSeq + Int64(batch.facts.count) - 1)
        idempotency.forget(before: wall(now) - configuration.limits.idempotency)
        for one in batch.reservations where destinations[one.slot]?.number == one.destination {
            if destinations[one.slot]?.reservation == .pending {
                destinations[one.slot]?.reservation = .granted
            }
            evaluate(one.slot, now: now, effects: &effects)
        }
        for one in batch.clockWaits where destinations[one.slot]?.number == one.destination {
            evaluate(one.slot, now: now, effects: &effects)
        }
        for one in batch.successions where destinations[one.slot]?.number == one.destination {
            destinations[one.slot]?.awaitsSuccession = false
            evaluate(one.slot, now: now, effects: &effects)
        }
        useTokens(batch.tokens, now: now, effects: &effects)
        for slot in batch.surfaceReservations where surfaces[slot].phase == .reserving {
            surfaces[slot].phase = .granted
            evaluateSurface(slot, now: now, effects: &effects)
        }
        var seen: Set<Int> = []
        for slot in affected where seen.insert(slot).inserted {
            for destination in activities[slot].destinations {
                evaluate(destination, now: now, effects: &effects)
            }
        }
        answer(batch, firstSeq: firstSeq, now: now, effects: &effects)
        leave(batch.retired)
    }

    private mutating func becomeDurable(_ staged: Staged.Event, seq: Int64, now: Instant) {
        let slot = staged.activity
        let isNewIncarnation = activities[slot].durableIncarnation != staged.incarnation
        if isNewIncarnation { leaveIncarnation(slot) }
        noteSuperseded(staged)
        activities[slot].durable = staged.projection
        reloadAfter(slot, now: now)
        activities[slot].seq = seq
        if let alert = staged.projection.alert, alert.version == staged.projection.version {
            activities[slot].comingAlerts.removeAll { $0.version <= alert.version }
            activities[slot].alerts.append(alert)
            if activities[slot].alerts.count > Alert.waitingMax { dropAlert(of: slot, now: now) }
        }
        if let key = staged.event.idempotency {
            idempotency.record(staged.event.tenant, key, seq: seq, at: staged.event.recordedAt)
        }
        if isNewIncarnation {
            activities[slot].durableIncarnation = staged.incarnation
            enterAudience(slot, now: now)
        }
        if staged.projection.ending != nil {
            leaveAudience(slot)
            retireLater(slot)
        }
    }

    /// Destinations of the incarnation before keep what they still have to deliver.
    private mutating func leaveIncarnation(_ slot: Int) {
        let last = activities[slot].durable
        activities[slot].alerts = []
        for destination in activities[slot].destinations
        where destinations[destination]?.final == nil {
            destinations[destination]?.final = last
        }
    }

    private mutating func answer(
        _ batch: Staged, firstSeq: Int64, now: Instant, effects: inout Effects
    ) {
        for (ticket, stored) in batch.stored {
            effects.answers.append((ticket, .stored(stored)))
        }
        func answer(_ index: Int) -> Accepted {
            let event = batch.events[index]
            var answer = accepted(
                event.activity, event.event.kind, seq: firstSeq + Int64(index), changed: true,
                now: now)
            answer.version = event.event.expectedVersion + 1
            answer.lint = event.lint
            if let plan = event.plan, let grant = answer.grant {
                answer.clip = event.projection.clip?.name
                answer.plan = self.plan(
                    plan.clip, payloadBytes: plan.payloadBytes, event.projection,
                    activities[event.activity], grant)
            }
            return answer
        }
        for waiting in batch.waiting {
            switch waiting {
            case .event(let index, let ticket):
                effects.answers.append((ticket, .accepted(answer(index))))
            case .events(let indices, let ticket):
                effects.answers.append((ticket, .acceptedAll(indices.map(answer))))
            case .standing(let slot, let kind, let ticket):
                stand(slot, kind, ticket, now: now, effects: &effects)
            }
        }
    }

    /// An answer's body: how the activity stands, and what its slowest destination does with it.
    func accepted(
        _ slot: Int, _ kind: EventKind, seq: Int64, changed: Bool, now: Instant
    ) -> Accepted {
        let activity = activities[slot]
        var counts = DestinationCounts()
        var slowest: (decision: Decision, until: Instant)?
        var grant: GrantInForce?
        for index in activity.destinations {
            guard let destination = destinations[index],
                destination.incarnation == activity.durableIncarnation
            else { continue }
            let own = grantInForce(destination)
            if grant.map({ $0.grant.frameInterval < own.grant.frameInterval }) ?? true {
                grant = own
            }
            guard let waiting = destination.waiting else {
                counts.sent += 1
                continue
            }
            counts.deferred += 1
            let until = waiting.until ?? .distantFuture
            if slowest.map({ $0.until < until }) ?? true { slowest = (waiting, until) }
        }
        return Accepted(
            activity: activity.key.id, seq: seq, version: activity.durable?.version ?? 0,
            status: status(slot), kind: kind, changed: changed,
            grant: grant
                ?? GrantInForce(budgetClass: .standard, grant: configuration.budgets[.standard]),
            decision: slowest.map { told($0.decision) }, destinations: counts, clip: nil, plan: nil)
    }

    func status(_ slot: Int) -> ActivityStatus {
        guard let durable = activities[slot].durable, durable.ending == nil else {
            return activities[slot].durable == nil ? .waiting : .ended
        }
        let reached = activities[slot].destinations.contains { index in
            guard let destination = destinations[index] else { return false }
            switch destination.phase {
            case .starting, .startUnknown, .started, .live, .listening: return true
            case .waiting: return hasStartRoute(destination)
            case .ended, .gone, .lapsed: return false
            }
        }
        return reached ? .active : .waiting
    }
}
