import TomboloJSON

// Decisions add up: every event ends in exactly one at each destination, and each is on record.

extension Core {
    /// All versions up to `version` have their decision at a destination, without a push that was
    /// made for them.
    mutating func decide(
        _ slot: CardSlot, through version: Int64, _ decision: EventDecision, now: Instant
    ) {
        guard destinations.holds(slot), destinations[slot].ledger.decidedThrough < version else {
            return
        }
        decide(slot, through: version, decision, nil, destinations[slot].delay, now, now: now)
        destinations[slot].delay = nil
    }

    /// The same, or what became of a push that decided nothing; either is on record.
    ///
    /// - Parameters:
    ///   - decision: nil where the newest state goes again.
    ///   - delay: what held it, until `delayEnd`.
    mutating func decide(
        _ slot: CardSlot, through version: Int64, _ decision: EventDecision?,
        _ attempt: DeliveryRecord.Attempt?, _ delay: Delay?, _ delayEnd: Instant, now: Instant
    ) {
        guard destinations.holds(slot),
            let recipient = devices[destinations[slot].device]?.recipient
        else { return }
        var record = DeliveryRecord(recipient: recipient, version: version, attempt: attempt)
        let activity = destinations[slot].activity
        if let decision {
            let superseded = activities[activity].superseded
            let decided = destinations[slot].ledger.decide(
                through: version, decision, superseded: superseded)
            record.decidedFrom = decided?.lowerBound
            // What the phone has is no reason where its producer had said something newer.
            let isPassed = decision.needsNoPush && superseded.contains(version)
            record.decision = decided.map { _ in isPassed ? .superseded : decision }
            if let decided, !superseded.isEmpty {
                record.superseded = superseded.filter { decided.contains($0) }
            }
            let isUsual = decision == .sent || decision == .merged || decision.needsNoPush
            markDirty(slot, mayWait: isUsual, now: now)
        }
        guard record.decision != nil || attempt != nil else { return }
        let wentOn = destinations[slot].goesOn
        // A card that is gone may have a thousand versions to come: one line says it of all.
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

    /// Nothing that waits at a destination will be sent any more.
    mutating func decideRest(_ slot: CardSlot, _ decision: EventDecision, now: Instant) {
        guard let version = projection(slot)?.version else { return }
        decide(slot, through: version, decision, now: now)
    }

    /// What became of a clip's frames at a destination since this was noted last.
    mutating func noteFrames(_ slot: CardSlot, _ clip: String, _ news: FrameCounts, now: Instant) {
        guard let recipient = devices[destinations[slot].device]?.recipient else { return }
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

    /// What holds a destination's newest change back, or nothing does.
    mutating func wait(_ slot: CardSlot, _ decision: Decision?, now: Instant) {
        destinations[slot].waiting = decision
        guard case .deferred(_, let hold)? = decision else {
            destinations[slot].noteHold(nil, newest: 0, now: now)
            return
        }
        let newest =
            destinations[slot].hasFinal
            ? destinations[slot].final?.version
            : activities[destinations[slot].activity].durable?.version
        destinations[slot].noteHold(hold, newest: newest ?? 0, now: now)
    }

    /// A fact of a tenant.
    ///
    /// - Parameter isDetail: it is left out, and counted, where its tenant has used up its part of
    ///   the history (`FactShares`).
    /// - Returns: whether it is written.
    @discardableResult
    mutating func note(
        _ tenant: TenantID, _ activity: ActivityNumber?, _ kind: String, _ body: [UInt8],
        isDetail: Bool = false, now: Instant
    ) -> Bool {
        let fact = NewFact(
            tenant: tenant, activity: activity, kind: kind, recordedAt: wall(now), body: body)
        return journal.note(fact, isDetail: isDetail, now: now)
    }

    /// What `history.thinned` will say next; nil where nothing was left out since it spoke last.
    package func comingThinning(of tenant: TenantID, now: Instant) -> NewFact? {
        journal.comingThinning(of: tenant, clock, now: now)
    }

    /// Something about the relay itself goes into the history: an upstream, the disk, the clock.
    ///
    /// - Parameter body: one JSON object.
    package mutating func learn(
        _ kind: String, of tenant: TenantID, _ body: [UInt8], now: Instant
    ) {
        note(tenant, nil, kind, body, now: now)
    }

    /// An alert past its time, or behind too many others, rings no more at a destination; its state
    /// goes all the same, and has a decision of its own.
    mutating func expire(_ alert: Projection.PendingAlert, at slot: CardSlot, now: Instant) {
        destinations[slot].alertsThrough = alert.version
        markDirty(slot, now: now)
        let activity = activities[destinations[slot].activity].number
        noteFact("alert.expired", of: destinations[slot].device, activity, now: now) {
            $0.member("version", alert.version)
        }
    }

    /// Alerts that still wait where nothing is left that could bring them: none dies in silence.
    mutating func loseAlerts(_ slot: CardSlot, before version: Int64 = .max, now: Instant) {
        guard !destinations[slot].hasFinal else { return }
        for alert in activities[destinations[slot].activity].alerts
        where alert.version > destinations[slot].alertsThrough && alert.version < version {
            expire(alert, at: slot, now: now)
        }
    }

    /// What a device said, or what became of a thing of its own.
    mutating func noteFact(
        _ kind: String, of device: DeviceSlot, _ activity: ActivityNumber? = nil, now: Instant,
        _ write: (inout JSONWriter) -> Void = { _ in }
    ) {
        // The room that a full disk keeps is for pushes: what a phone says of itself is left out.
        guard let known = devices[device], hasRoom else { return }
        var writer = FactRecipient.body(about: known.recipient)
        write(&writer)
        writer.endObject()
        // That Apple has given up a token explains pushes; the rest is as often as a phone likes.
        note(
            known.key.tenant, activity, kind, writer.bytes, isDetail: kind != "token.retired",
            now: now)
    }

    /// A step of a card's life, where it is news. It is on record with all that brought it about,
    /// or not at all: a restart tells it neither twice nor never.
    mutating func tell(
        _ step: CardStory, at slot: CardSlot, by: String? = nil, reason: String? = nil, now: Instant
    ) {
        let isLive = destinations[slot].phase == .live && !destinations[slot].isOverOnPhone
        // Who listens on a channel is unknown.
        guard !devices.traits(destinations[slot].device).isChannel,
            destinations[slot].story.take(step, isLive: isLive),
            let destination = destinations.at(slot),
            let recipient = devices[destination.device]?.recipient
        else { return }
        let activity = activities[destination.activity]
        var writer = FactRecipient.body(about: recipient)
        writer.member("card", reference(destination).text)
        if destination.acknowledged > 0 { writer.member("version", destination.acknowledged) }
        if let by { writer.member("by", by) }
        if let reason { writer.member("reason", reason) }
        writer.endObject()
        note(activity.key.tenant, activity.number, step.fact, writer.bytes, now: now)
        destinations[slot].markIsDirty = true
        journal.checkpoint(slot)
    }

    /// A device has a token, or has it no more. An activity that is not known is not named: nothing
    /// would find the fact when the activity is erased.
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

    /// The phone's word about a card, where it is news.
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

    /// The oldest of too many alerts goes: where it waits still, it has expired.
    mutating func dropAlert(of activity: ActivitySlot, now: Instant) {
        let alert = activities[activity].alerts.removeFirst()
        for slot in activities[activity].destinations
        where destinations[slot].waits(for: alert) {
            expire(alert, at: slot, now: now)
        }
    }

    /// The books of an activity's destinations; nil for an activity that is not there.
    package func ledgers(of key: ActivityKey, now: Instant) -> [LedgerView]? {
        guard let slot = activities.slot(of: key), activities[slot].durable != nil else {
            return nil
        }
        return activities[slot].destinations.compactMap { index in
            guard let destination = destinations.at(index), let projection = projection(index),
                let device = devices[destination.device]
            else { return nil }
            // Of one moment, so that the seconds add up to what they are the seconds of.
            let cursor = destination.cursor?.accounted(at: wall(now))
            return LedgerView(
                recipient: device.recipient, incarnation: destination.incarnation,
                grant: grantInForce(destination), phase: destination.phase.name,
                ledger: destination.ledger, version: projection.version,
                waiting: told(destination.waiting, destination.lane, now: now),
                frames: (cursor?.tally ?? FrameCounts()) + destination.frames,
                seconds: cursor?.seconds.seconds ?? [])
        }
    }

    /// Remembers that a version only repeated what its producer had said otherwise since.
    mutating func noteSuperseded(_ staged: JournalBatch.Event) {
        guard case .update(let update) = staged.content, let number = update.stateVersion,
            let known = activities[staged.activity].durable?.stateVersion, number < known
        else { return }
        activities[staged.activity].superseded.append(staged.projection.version)
        if activities[staged.activity].superseded.count > Activity.supersededMax {
            activities[staged.activity].superseded.removeFirst()
        }
    }
}

/// What became of everything that one destination was asked to show.
package struct LedgerView: Sendable {
    package var recipient: Recipient
    package var incarnation: Int64
    package var grant: GrantInForce
    package var phase: String
    package var ledger: Ledger
    /// Where the activity stands.
    package var version: Int64
    /// What holds the newest version back, if anything does.
    package var waiting: Decision?
    package var frames: FrameCounts
    /// Of the clip that runs: the last minute.
    package var seconds: [FrameSeconds.Second]
}
