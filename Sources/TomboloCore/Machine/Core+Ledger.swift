import TomboloJSON

// Decisions: each event gets exactly one at each destination, and each decision is recorded.

extension Core {
    /// Decides all versions up to `version` at a destination, without a push.
    mutating func decide(
        _ slot: CardSlot, through version: Int64, _ decision: EventDecision, now: Instant
    ) {
        guard destinations.holds(slot), destinations[slot].ledger.decidedThrough < version else {
            return
        }
        decide(slot, through: version, decision, nil, destinations[slot].delay, now, now: now)
        destinations[slot].delay = nil
    }

    /// Decides versions, or records a push that decides none.
    ///
    /// - Parameters:
    ///   - decision: nil if the push repeats the newest state.
    ///   - delay: the wait reasons until `delayEnd`.
    mutating func decide(
        _ slot: CardSlot, through version: Int64, _ decision: EventDecision?,
        _ attempt: DeliveryRecord.Attempt?, _ delay: Delay?, _ delayEnd: Instant, now: Instant
    ) {
        guard destinations.holds(slot),
            let recipient = devices.inspect(destinations[slot].device, { $0.recipient })
        else { return }
        var record = DeliveryRecord(
            recipient: recipient, card: destinations[slot].cardNumber, version: version,
            attempt: attempt)
        let activity = destinations[slot].activity
        if let decision {
            let superseded = activities[activity].superseded
            let decided = destinations[slot].ledger.decide(
                through: version, decision, superseded: superseded)
            record.decidedFrom = decided?.lowerBound
            // A version with an older `state_version` counts as superseded if it needed no push.
            let isPassed = decision.needsNoPush && superseded.contains(version)
            record.decision = decided.map { _ in isPassed ? .superseded : decision }
            if let decided, !isTrial, decision.reason != nil || decision == .expired {
                counters[activities[activity].key.tenant].decided.add(
                    Int64(decided.count), isPassed ? .superseded : decision)
            }
            if let decided, !superseded.isEmpty {
                record.superseded = superseded.filter { decided.contains($0) }
            }
            let isUsual = decision == .sent || decision == .merged || decision.needsNoPush
            scheduleCheckpoint(slot, mayWait: isUsual, now: now)
        }
        guard record.decision != nil || attempt != nil else { return }
        let wentOn = destinations[slot].goesOn
        // A card that is gone may get thousands of versions, so one entry is for all that follow.
        record.goesOn =
            attempt == nil && destinations[slot].isFinished && !isTrial
            && decision?.mayGoOn == true
        let repeats = record.goesOn && wentOn == decision
        if repeats, record.superseded.isEmpty { return }
        record.trace = activities[activity].trace(of: record.decided ?? version...version)
        if let delay {
            record.waited = delayEnd - delay.since
            record.held = delay.held(until: delayEnd)
        }
        let key = activities[activity].key
        let isWritten = note(
            key.tenant, activities[activity].number, record.kind, record.body,
            isDetail: attempt == nil && (wentOn == nil || repeats), now: now)
        destinations[slot].goesOn = record.goesOn && (isWritten || repeats) ? decision : nil
    }

    /// Decides all waiting versions of a destination that cannot be sent any more.
    mutating func decideRest(_ slot: CardSlot, _ decision: EventDecision, now: Instant) {
        // A card whose start waited until it was over counts, by what held it longest.
        if decision == .annihilated || decision == .startWait, !isTrial,
            let device = devices[destinations[slot].device],
            let reason = destinations[slot].delay?.longest(until: now)
        {
            let activity = activities[destinations[slot].activity].key
            counters[activity.tenant].neverBegan[reason, default: 0] += 1
            counters[activity.tenant].lastNeverBegan = NeverBegan(
                activity: activity.id, device: device.key.id, reason: reason, at: wall(now))
        }
        guard let version = projection(slot)?.version else { return }
        decide(slot, through: version, decision, now: now)
    }

    /// Records what became of a clip's frames at a destination since the last such fact.
    mutating func noteFrames(_ slot: CardSlot, _ clip: String, _ news: FrameCounts, now: Instant) {
        guard let recipient = devices.inspect(destinations[slot].device, { $0.recipient })
        else { return }
        let activity = destinations[slot].activity
        var writer = FactRecipient.body(about: recipient)
        writer.member("clip", clip)
        for (name, count) in [
            ("asked", news.asked), ("sent", news.sent), ("merged", news.merged),
            ("slowed", news.slowed), ("no_route", news.noRoute), ("hidden", news.hidden),
            ("paused", news.paused), ("unchanged", news.unchanged),
        ] where count > 0 {
            writer.member(name, count)
        }
        writer.endObject()
        note(
            activities[activity].key.tenant, activities[activity].number, "clip.frames",
            writer.bytes, isDetail: true, now: now)
    }

    /// Sets why a destination's newest change waits; nil: it does not wait.
    mutating func wait(_ slot: CardSlot, _ decision: Decision?, now: Instant) {
        destinations[slot].waiting = decision
        guard case .deferred(_, let reason)? = decision else {
            destinations[slot].noteWait(nil, newest: 0, now: now)
            return
        }
        let newest =
            destinations[slot].hasFinal
            ? destinations[slot].final?.version
            : activities[destinations[slot].activity].durable?.version
        destinations[slot].noteWait(reason, newest: newest ?? 0, now: now)
    }

    /// Writes a fact of a tenant.
    ///
    /// - Parameter isDetail: true if the fact may be left out, and counted, because its tenant has
    ///   used up its part of the history (`FactShares`).
    /// - Returns: true if the fact is written.
    @discardableResult
    mutating func note(
        _ tenant: TenantID, _ activity: ActivityNumber?, _ kind: String, _ body: [UInt8],
        isDetail: Bool = false, now: Instant
    ) -> Bool {
        let fact = NewFact(
            tenant: tenant, activity: activity, kind: kind, recordedAt: wall(now), body: body)
        return journal.note(fact, isDetail: isDetail, now: now)
    }

    /// The report about the tenant's left-out facts that is not written yet; nil if there is none.
    package func comingThinning(of tenant: TenantID, now: Instant) -> NewFact? {
        journal.comingThinning(of: tenant, clock, now: now)
    }

    /// Writes a fact about the relay itself, such as an upstream, the disk or the clock.
    ///
    /// - Parameter body: one JSON object.
    package mutating func learn(
        _ kind: String, of tenant: TenantID, _ body: [UInt8], now: Instant
    ) {
        note(tenant, nil, kind, body, now: now)
    }

    /// Drops an alert at a destination, because it is too old or there are too many. The state of
    /// its event is still sent and gets its own decision.
    mutating func expire(_ alert: Projection.PendingAlert, at slot: CardSlot, now: Instant) {
        destinations[slot].alertsThrough = alert.version
        scheduleCheckpoint(slot, now: now)
        let activity = activities[destinations[slot].activity].number
        noteFact("alert.expired", of: destinations[slot].device, activity, now: now) {
            $0.member("version", alert.version)
        }
    }

    /// Drops the waiting alerts of a destination that cannot send them any more. Each drop is a
    /// fact.
    mutating func loseAlerts(_ slot: CardSlot, before version: Int64 = .max, now: Instant) {
        guard !destinations[slot].hasFinal else { return }
        for alert in activities[destinations[slot].activity].alerts
        where alert.version > destinations[slot].alertsThrough && alert.version < version {
            expire(alert, at: slot, now: now)
        }
    }

    /// Writes a fact about a device, with the members that `write` adds.
    mutating func noteFact(
        _ kind: String, of device: DeviceSlot, _ activity: ActivityNumber? = nil, now: Instant,
        _ write: (inout JSONWriter) -> Void = { _ in }
    ) {
        // On a nearly full disk the space is for pushes: facts about devices are left out.
        guard let known = devices[device], hasRoom else { return }
        var writer = FactRecipient.body(about: known.recipient)
        write(&writer)
        writer.endObject()
        // A retired token explains later decisions, so this fact is always written. A phone can
        // cause any number of the other ones.
        note(
            known.key.tenant, activity, kind, writer.bytes, isDetail: kind != "token.retired",
            now: now)
    }

    /// Records a step in a card's life, if it is new. The fact is in the same batch as the card's
    /// checkpoint, so that a restart neither repeats nor loses it.
    mutating func tell(
        _ step: CardStory, at slot: CardSlot, by: String? = nil, reason: String? = nil, now: Instant
    ) {
        let isLive = destinations[slot].phase == .live && !destinations[slot].isOverOnPhone
        // It is unknown which phones listen on a channel, so channels have no such facts.
        guard !devices.traits(destinations[slot].device).isChannel,
            destinations[slot].story.take(step, isLive: isLive),
            let destination = destinations.at(slot),
            let recipient = devices[destination.device]?.recipient
        else { return }
        let activity = activities[destination.activity]
        var writer = FactRecipient.body(about: recipient)
        writer.member("card", reference(destination).text)
        writer.member("to", destination.cardNumber)
        if destination.acknowledged > 0 { writer.member("version", destination.acknowledged) }
        if let by { writer.member("by", by) }
        if let reason { writer.member("reason", reason) }
        writer.endObject()
        note(activity.key.tenant, activity.number, step.fact, writer.bytes, now: now)
        destinations[slot][.checkpointIsDirty] = true
        journal.checkpoint(slot)
    }

    /// Records that a device got or lost a token. No fact is written if the token's activity is
    /// unknown, because the erasure of that activity would not find it.
    mutating func noteToken(_ kind: String, _ name: TokenName, of device: DeviceSlot, now: Instant)
    {
        guard case .activity(let reference) = name else {
            return noteFact(kind, of: device, now: now) { $0.member("token", name.text) }
        }
        guard let activity = activityNumber(reference, of: device) else { return }
        noteFact(kind, of: device, activity, now: now) { $0.member("token", name.text) }
    }

    private func activityNumber(
        _ reference: ActivityReference, of device: DeviceSlot
    ) -> ActivityNumber? {
        guard let tenant = devices[device]?.key.tenant else { return nil }
        let key = ActivityKey(tenant: tenant, id: reference.id)
        return activities.slot(of: key).map { activities[$0].number }
    }

    /// Records a phone's report about a card, if it says something new.
    mutating func noteReport(
        _ report: PhoneReport, before: PhoneReport?, on reference: ActivityReference,
        of device: DeviceSlot, now: Instant
    ) {
        guard let activity = activityNumber(reference, of: device),
            before?.phase != report.phase || report.hasNewVersion
                || before?.missesPush != report.missesPush
        else { return }
        noteFact("card.reported", of: device, activity, now: now) { writer in
            writer.member("phase", report.phase.name)
            if let by = report.by { writer.member("by", by) }
            if let version = report.received { writer.member("received_version", version) }
            if let version = report.drawn { writer.member("drawn_version", version) }
            if let at = report.shownAt { writer.member("shown_at", at.rfc3339) }
            if report.missesPush { writer.member("misses_push", true) }
        }
    }

    /// Drops the oldest alert of an activity that has too many. Each destination that still waits
    /// to send it records this.
    mutating func dropAlert(of activity: ActivitySlot, now: Instant) {
        let alert = activities[activity].alerts.removeFirst()
        for slot in activities[activity].destinations
        where destinations[slot].waits(for: alert) {
            expire(alert, at: slot, now: now)
        }
    }

    /// The decisions at an activity's destinations; nil if the activity does not exist.
    package func ledgers(of key: ActivityKey, now: Instant) -> [LedgerView]? {
        guard let slot = activities.slot(of: key), activities[slot].durable != nil else {
            return nil
        }
        return activities[slot].destinations.compactMap { index in
            guard let destination = destinations.at(index), let projection = projection(index),
                let device = devices[destination.device]
            else { return nil }
            // Count all at the same instant, so that the seconds add up to the totals.
            let cursor = destination.cursor?.accounted(at: wall(now))
            return LedgerView(
                recipient: device.recipient, card: destination.cardNumber,
                incarnation: destination.incarnation,
                grant: grantInForce(destination), phase: phaseName(destination, now: now),
                ledger: destination.ledger, version: projection.version,
                waiting: told(destination.waiting, destination.upstream, now: now),
                trouble: upstreams[destination.upstream].trouble,
                frames: (cursor?.tally ?? FrameCounts()) + destination.frames,
                seconds: cursor?.seconds.seconds ?? [])
        }
    }

    /// Notes a version that changes nothing, because a newer `state_version` is known.
    mutating func noteSuperseded(_ event: JournalBatch.Event) {
        guard case .update(let update) = event.content, let number = update.stateVersion,
            let known = activities[event.activity].durable?.stateVersion, number < known
        else { return }
        activities[event.activity].superseded.append(event.projection.version)
        if activities[event.activity].superseded.count > Activity.supersededMax {
            activities[event.activity].superseded.removeFirst()
        }
    }
}

/// All that one destination should have shown, counted by decision.
package struct LedgerView: Sendable {
    package var recipient: Recipient
    /// The number of its card, as in `DeliveryRecord`.
    package var card: Int64
    package var incarnation: Int64
    package var grant: GrantInForce
    package var phase: String
    package var ledger: Ledger
    /// The activity's version.
    package var version: Int64
    /// Why the newest version waits; nil if it does not wait.
    package var waiting: Decision?
    /// Why the app's upstream is closed; nil if it is open.
    package var trouble: String?
    package var frames: FrameCounts
    /// Frame counts for each second of the last minute, if a clip plays.
    package var seconds: [FrameSeconds.Second]
}
