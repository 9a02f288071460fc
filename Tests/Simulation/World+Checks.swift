import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloLoop
import TomboloRelay

// The checkers that run at each step.

extension World {
    // MARK: The log

    /// Told at the moment at which a batch became durable.
    func becameDurable(_ batch: AppendBatch, _ receipt: AppendReceipt) {
        durableAt = loop.now
        recordedStart = start
        note(.durable, who: -1, receipt.firstSeq, Int64(batch.events.count), Self.text(batch))
        var owesReloads = false
        for (index, event) in batch.events.enumerated() {
            let seq = receipt.firstSeq + Int64(index)
            if let wrong = reference.append(event, seq: seq, at: loop.now.nanoseconds) {
                violated(.order, wrong)
            }
            checkCount(receipt.tenantSeqs[index], of: seq)
            if event.kind == .start, event.expectedVersion == 0 { leaveEarlier(event.activity) }
            if event.kind == .start { adopt(event.activity, event) }
            if wantReloads(after: event) { owesReloads = true }
            if event.kind == .start { tuneIn(event) }
            seam.changed(event.activity, event.kind)
        }
        if owesReloads { crashBeforeReloads() }
        followTokens(batch.records)
        for fact in batch.facts { checkTelling("a fact", fact.body) }
        checkBounds()
        batches += 1
        if batches % 16 == 0 { checkLaws() }
        for record in batch.records { history.mix(UInt64(bitPattern: record.number)) }
    }

    /// The place of an event among those of its tenant, as somebody tells it.
    func checkCount(_ tenantSeq: Int64, of seq: Int64) {
        guard let event = reference.event(seq), event.tenantSeq != tenantSeq else { return }
        violated(
            .ownCount,
            "\(event.event.tenant.name): its event \(event.tenantSeq) is said to be \(tenantSeq)")
    }

    private static func text(_ batch: AppendBatch) -> String {
        batch.records.map {
            let isCheckpoint = $0.space == .checkpoint
            let text = $0.value.map { String(decoding: $0, as: UTF8.self) } ?? "gone"
            return "\($0.space) \($0.number)" + (isCheckpoint ? " \(text.prefix(150))" : "")
        }.joined(separator: ", ")
    }

    /// A token may go from one device to another in one batch.
    private func followTokens(_ records: [Record]) {
        // What a device had that goes, or has another token for, or that has died, is free for
        // others in the same batch.
        var before = recordedTokens
        for record in records where record.space == .device {
            guard let now = Self.tokens(record) else {
                before[record.number] = nil
                continue
            }
            let dead = Self.tokens(record, "retired") ?? [:]
            for (name, token) in before[record.number] ?? [:]
            where now[name, default: token] != token || dead[name] == token {
                before[record.number]?[name] = nil
            }
        }
        followMoves(records)
        for record in records where record.space == .device { followTokens(record) }
        for record in records where record.space == .device {
            guard let tokens = recordedTokens[record.number], !tokens.isEmpty else { continue }
            retiredTokens.subtract(tokens.values)
            checkHolders(record, Set(tokens.values), before)
        }
    }

    /// Of what is under way by one id of a phone nobody waits for the outcome by the other.
    private func followMoves(_ records: [Record]) {
        guard faults.contains(FaultSet(.secondIDs)) else { return }
        for record in records where record.space == .device {
            let moved = (Self.tokens(record) ?? [:]).values.first { token in
                recordedTokens.contains {
                    $0.key != record.number && $0.value.values.contains(token)
                }
            }
            if let phone = moved.flatMap({ apple.tokens[$0]?.phone }) { depart(phone) }
        }
    }

    private func followTokens(_ record: Record) {
        let tokens = Self.tokens(record) ?? [:]
        let before = Set(recordedTokens[record.number]?.values ?? [:].values)
        retiredTokens.formUnion(before.subtracting(tokens.values))
        retiredTokens.subtract(tokens.values)
        recordedTokens[record.number] = tokens
    }

    /// Of a device's record, by their names; nil where the device is gone.
    private static func tokens(
        _ record: Record, _ member: String = "tokens"
    ) -> [String: String]? {
        guard let value = record.value else { return nil }
        var tokens: [String: String] = [:]
        if let list = JSON(unchecked: value).document.root[member] {
            for (name, token) in list.members { tokens[name] = token["token"]?.string }
        }
        return tokens
    }

    /// What went in a commit of which nobody was told that it succeeded.
    private func goneDevices(_ recovered: RecoveredLog) -> [Record] {
        let left = Set(recovered.records.lazy.filter { $0.space == .device }.map(\.number))
        return recordedTokens.keys.filter { !left.contains($0) }.sorted()
            .map { Record(space: .device, number: $0, value: nil) }
    }

    /// Told what a new life found.
    func reconcile(_ left: [RecordedEvent], _ recovered: RecoveredLog, _ life: Life) {
        let history = whole(left, recovered)
        let known = isRestoring ? [] : reference.events
        if history.count < known.count {
            violated(.durable, "\(known.count) events were durable, \(history.count) are left")
        } else if !history.starts(with: known) {
            violated(.durable, "an event that was durable has changed")
        }
        if let wrong = follow(history) { violated(.order, wrong) }
        let counts = recovered.places.mapValues(\.command).filter { $0.value > 0 }
        if counts != reference.counts {
            violated(.ownCount, "\(counts) instead of \(reference.counts)")
        }
        for line in recovered.damage { violated(.damage, line) }
        // Numbers may be given again.
        if isRestoring { recordedTokens = [:] }
        followTokens(goneDevices(recovered) + recovered.records)
        if isRestoring { forgetGap(recovered) }
        checkSize(of: recovered)
        for (key, outbox) in outboxes {
            guard let phone = phones.first(where: { $0.number == key.phone }),
                let (_, model) = reference.model(
                    tenant: phone.tenant, id: key.reference.id.rawValue)
            else { continue }
            // A card whose place was taken ends with the state of then.
            let next = key.reference.renewed
            let isTaken = outboxes.keys.contains { $0.phone == key.phone && $0.reference == next }
            if key.reference.incarnation == model.incarnation, !isTaken,
                let origin = reference.origins[model.mark]
            {
                outbox.floor = max(outbox.floor, origin.version)
            }
        }
    }

    /// Brings the reference to what a log has. Most logs have what it has already.
    private func follow(_ history: [RecordedEvent]) -> String? {
        let now = loop.now.nanoseconds
        guard !isRestoring, history.starts(with: reference.events) else {
            contents = []
            return reference.rebuild(history, at: now)
        }
        var wrong: String?
        for event in history.dropFirst(reference.events.count) {
            wrong = reference.append(event.event, seq: event.seq, at: now) ?? wrong
            // It was durable before anybody knew, and what it owes comes all the same.
            wantReloads(after: event.event)
        }
        return wrong
    }

    // MARK: The core

    /// Checks the laws of the living relay's core. It waits for nothing, so the seed's history
    /// stays the same.
    func checkLaws() {
        guard let life, !life.isDead, let relay = life.relay else { return }
        let broken = relay.assumeIsolated { relay in
            relay.read { core, now in core.brokenLaws(now: now) }
        }
        for law in broken { violated(.laws, law) }
    }

    // MARK: Answers

    /// Takes note of an answer. False where it says that nothing is known.
    func take(_ answer: Answer, _ index: Int) -> Bool {
        switch answer {
        case .accepted(let accepted) where accepted.changed:
            acknowledged(index, seq: accepted.seq)
            checkCount(accepted.tenantSeq, of: accepted.seq)
            return true
        case .replay(let seq):
            // As the doors do: the key is compared in full, with what it was used for.
            let known = reference.event(seq)?.event.idempotency
            let own = ledger.requests[index].command.idempotency
            if known?.key == own?.key, known?.bodyDigest != own?.bodyDigest {
                ledger.refused(index)
            } else {
                acknowledged(index, seq: seq)
            }
            return true
        case .accepted:
            ledger.refused(index)
            return true
        case .refused(let refusal):
            switch refusal.code {
            case .stopping, .logSilent, .overloaded, .idempotencyKeyRunning: return false
            case .logFull:
                ledger.refused(index)
                return false
            default:
                ledger.refused(index)
                return true
            }
        case .acceptedAll, .replayAll, .partlyThere, .refusedBatch, .stored:
            violated(.answered, "\(answer) to a command")
            return true
        }
    }

    private func acknowledged(_ index: Int, seq: Int64) {
        if let wrong = ledger.acknowledged(index, seq: seq) { violated(.once, wrong) }
        let command = ledger.requests[index].command
        guard seq >= 1, seq <= reference.events.count else {
            violated(.durable, "sequence \(seq) is acknowledged and not in the log")
            return
        }
        let event = reference.events[Int(seq) - 1].event
        if event.body != command.completed(by: nil).body || event.tenant != command.activity.tenant
            || event.kind != command.content.kind
        {
            violated(.durable, "sequence \(seq) is another event")
        }
    }

    // MARK: Pushes

    /// Looks at a push as it is handed over.
    func checkPush(
        _ push: Push, _ content: PushContent, _ token: Apple.Token, _ key: CardKey, _ life: Life
    ) {
        let activity = key.reference.id.rawValue
        let outbox = outboxes[key] ?? Outbox(type: Plan.type(of: activity))
        outboxes[key] = outbox
        func check(_ holds: Bool, _ promise: Promise, _ detail: @autoclosure () -> String) {
            guard !holds else { return }
            violated(
                promise, "phone \(key.phone) \(key.reference.text) \(push.event): \(detail())")
        }
        check(push.payload.count <= 4_096, .size, "\(push.payload.count) bytes")
        check(
            !retiredTokens.contains(push.token), .retired, "\(push.token) is retired on record")
        let phone = token.phone
        for (promise, detail) in audienceFaults(content, push.event, phone) {
            check(false, promise, detail)
        }
        check(
            content.isBare
                || content.tenant == phone.tenant.name.rawValue
                    && content.activity == key.reference.id.rawValue,
            .tenants,
            "\(content.tenant)'s \(content.activity) to \(phone.tenant.name)'s phone")
        let isAstray = phone.ids.count > 1 && token.goneSince != nil
        for (promise, detail) in isAstray ? [] : originFaults(content, push.event, key, outbox) {
            check(false, promise, detail)
        }
        if push.event == .start, let model = reference.origins[content.mark] {
            outbox.resendsStarts = startPolicy(model.activity) == .resend
        }
        for (promise, detail) in startFaults(push, content, key, phone) {
            check(false, promise, detail)
        }
        for (promise, detail) in holds(push, content, phone, activity, life) {
            check(false, promise, detail)
        }
        checkBundle(content, "phone \(key.phone) \(key.reference.text)", life)
        checkNamesLiving(content.channel, "phone \(key.phone) \(key.reference.text)", life)
        let mayShare = timeline(phone, outbox.type).mayHold(.lab, at: loop.now)
        let sent = Outbox.Sent(
            at: loop.now, life: life.number, push: push.id, event: push.event,
            priority: push.priority, timestamp: content.timestamp, mark: content.mark,
            frame: content.frame, value: content.value, alert: content.alert,
            bundle: content.bundle?.play, mayShare: mayShare,
            // Only frames are not to be kept by Apple.
            isFrame: push.expiration == 0, isStale: content.isStale, token: push.token,
            isFarAhead: isFarAhead(content.timestamp), isAstray: isAstray)
        check(
            !sent.isFrame || sent.priority == 5 || mayShare, .framePriority,
            "a frame at \(sent.priority)")
        let isFirstEnd = push.event == .end && !outbox.sends.contains { $0.event == .end }
        check(!isFirstEnd || push.priority == 10, .endPriority, "an end at \(push.priority)")
        if push.event == .start, hasOutlived(key, outbox) { outbox.isUnsure = true }
        let faults = outbox.faults(sent) + clockFaults(sent, life)
        for (promise, detail) in faults + ageFaults(push.event, key, outbox, phone) {
            check(false, promise, detail)
        }
        outbox.sends.append(sent)
    }

    /// Whether a new card has lived and is over that a log that was put back may know nothing of.
    private func hasOutlived(_ key: CardKey, _ outbox: Outbox) -> Bool {
        guard !outbox.cuts.isEmpty, key.reference.renewal > 0, let life = plan.cardLife,
            let last = outbox.sends.last(where: { $0.event == .start && $0.counts })
        else { return false }
        return loop.now - last.at > life.length
    }

    /// What a push shows is in the log, no older than what went before, and of its own incarnation.
    private func originFaults(
        _ content: PushContent, _ event: Push.Event, _ key: CardKey, _ outbox: Outbox
    ) -> [(Promise, String)] {
        guard !content.isBare else { return [] }
        if event == .update { checkStaleDate(content, key) }
        guard let origin = reference.origins[content.mark] else {
            return [(.shownIsDurable, "mark \(content.mark) is not in the log")]
        }
        var faults: [(Promise, String)] = []
        if origin.version < outbox.floor {
            faults.append((.order, "version \(origin.version) after \(outbox.floor)"))
        }
        outbox.floor = max(outbox.floor, origin.version)
        // The same holds for the end of a card that the relay has not known until now: without a
        // state of its own it shows nothing.
        if origin.incarnation != key.reference.incarnation {
            faults.append((.order, "incarnation \(origin.incarnation)'s state"))
        }
        return faults
    }

    func startPolicy(_ activity: ActivityNumber) -> UnknownStartPolicy {
        let start = reference.events.last {
            $0.event.activity == activity && $0.event.kind == .start
        }
        guard let start else { return .giveUp }
        let policy = JSON(unchecked: start.event.body).document.root["on_unknown_start"]?.string
        // Without its own word, its type's: that may be either.
        return policy == "resend" || policy == nil && !typeTimelines.isEmpty ? .resend : .giveUp
    }

    // MARK: Waiting

    /// Looks now and then for something that waits and is held by nothing; in worlds where little
    /// else holds.
    func sweep() {
        guard !isHealed, faults.isDisjoint(with: .holding) else { return }
        for phone in phones {
            for card in phone.sortedCards
            where card.isRegistered && !card.isDismissed && !card.isUnnamed
                && !isNearEnd(card, phone)
            {
                sweep(card, phone)
            }
        }
        after(.seconds(4)) { [self] in sweep() }
    }

    private func sweep(_ card: Card, _ phone: Phone) {
        guard let outbox = outbox(of: card, phone),
            let (_, model) = reference.model(
                tenant: phone.tenant, id: card.reference.id.rawValue)
        else { return }
        let last = outbox.sends.last { $0.counts }
        let isLive =
            model.incarnation == card.reference.incarnation && !model.hasEnded && !card.isLeft
        // A card that has a successor is ended when that can be updated, and updated until then.
        let isCurrent =
            isLive && last?.mark == model.mark
            || (!isLive || successor(of: card, phone) != nil) && last?.event == .end
        guard !isCurrent else {
            card.behindSince = nil
            return
        }
        // An end waits from its own moment on.
        if card.waitsForEnd == isLive { card.behindSince = nil }
        card.waitsForEnd = !isLive
        if let since = card.behindSince, let last, last.at > since { card.behindSince = nil }
        let since = card.behindSince ?? loop.now
        card.behindSince = since
        let from = max(since, lastTrouble, card.registeredSince)
        // The slowest class: which one holds may change any time.
        let grant = plan.configuration.budgets[.standard]
        // All that goes to the phone takes turns (rule 8).
        let turns = Int64(outboxes.keys.count { $0.phone == phone.number })
        let turn =
            grant.lowPrioritySpacing.nanoseconds
            / plan.configuration.limits.deviceGrantFactor
        // An end takes no turn: it goes at once (rule 4).
        let waits = isLive || !faults.isDisjoint(with: .unsteadyTokens)
        let isAmongWrong = faults.contains(FaultSet(.wrongTokens))
        let bound =
            isAmongWrong
            ? Span.minutes(3)
            : Span.seconds(10)
                + Span(nanoseconds: waits ? grant.lowPrioritySpacing.nanoseconds + turns * turn : 0)
        guard life?.isReady == true, Span(nanoseconds: (loop.now - from).nanoseconds) > bound
        else { return }
        violated(
            isAmongWrong ? .served : .noWait,
            "phone \(phone.number) \(card.reference.text) waits since \(from)")
        card.behindSince = loop.now
    }
}

extension Span {
    static func + (one: Span, other: Span) -> Span {
        Span(nanoseconds: one.nanoseconds + other.nanoseconds)
    }
}
