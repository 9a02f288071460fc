import TomboloJSON

// What follows from Apple's answers (pacing rule 14).

extension Core {
    mutating func pushEnded(_ outcome: PushOutcome, now: Instant, effects: inout Effects) {
        let upstream = outcome.push.upstream
        guard upstreams.holds(upstream) else { return }
        let outcome = judged(outcome, upstream)
        upstreams[upstream].gaveBack()
        if let notice = noteUpstream(upstream, outcome, now: now) {
            effects.upstreams.append(notice)
        }
        switch outcome.push.turn {
        case .card(let slot): cardPushEnded(slot, outcome, now: now)
        case .surface(let slot): reloadEnded(slot, outcome, now: now)
        }
        upstreams.wake(upstream)
    }

    private mutating func cardPushEnded(_ slot: CardSlot, _ outcome: PushOutcome, now: Instant) {
        // If a push was given up, a late outcome changes nothing, except for a start with unknown
        // outcome: its card must not be started a second time.
        if destinations.holds(slot), let flying = destinations[slot].land(outcome.push) {
            if !flying.isFrame { destinations[slot].note(outcome) }
            settle(slot, flying, outcome.result, now: now)
            account(slot, flying, outcome.result, took: outcome.took, now: now)
            destinations.wakeFirst(slot)
        } else if destinations.holds(slot), destinations[slot].phase == .startUnknown,
            destinations[slot].startPush == outcome.push
        {
            startLearned(slot, outcome.result, now: now)
            destinations.wakeFirst(slot)
        }
    }

    /// Changes the outcome for a wrong token if no token was ever right at the upstream and several
    /// devices have wrong ones. Then the configuration is wrong: the upstream is closed, as after a
    /// refused key, and no token is dropped.
    private mutating func judged(_ outcome: PushOutcome, _ upstream: UpstreamNumber) -> PushOutcome
    {
        switch outcome.result {
        case .accepted, .rejected(_, _, .tokenGone, _), .rejected(_, _, .tokenBackOff, _):
            guard !upstreams[upstream].hasBeenRight else { return outcome }
            upstreams[upstream].noteRightToken()
            journal.write(UpstreamRecord(configuration[upstream]).record)
            // Without this record, wrong tokens could close the upstream again after a crash.
            journal.flushAtOnce()
        case .rejected(let status, let reason, .tokenMisplaced, _),
            .rejected(let status, let reason, .topic, _):
            guard let device = pushedDevice(of: outcome.push),
                upstreams[upstream].noteWrongToken(ofDevice: device)
            else { return outcome }
            var outcome = outcome
            outcome.result = .rejected(
                status: status, reason: reason, reaches: .connection, tokenGoneSince: nil)
            return outcome
        default: break
        }
        return outcome
    }

    /// The device to which the push goes; nil if the push is not in flight any more.
    private func pushedDevice(of push: PushID) -> DeviceSlot? {
        switch push.turn {
        case .surface(let slot):
            return surfaces.isInFlight(push, slot) ? surfaces[slot].device : nil
        case .card(let slot):
            guard destinations.holds(slot), destinations[slot].inFlight?.push == push else {
                return nil
            }
            return destinations[slot].device
        }
    }

    /// Records what an answer decides about versions. Accepted frames are only counted.
    private mutating func account(
        _ slot: CardSlot, _ flying: Destination.InFlight, _ result: PushResult, took: Span,
        now: Instant
    ) {
        let decision: EventDecision?
        switch result {
        case .accepted: decision = .sent
        case .rejected(_, _, .push, _), .rejected(_, _, .topic, _): decision = .refused
        // No decision: the state is sent again. If the card is gone, the rest is decided below.
        case .rejected, .notSent, .unknown: decision = nil
        }
        let isNews = decision != nil && destinations[slot].ledger.decidedThrough < flying.version
        if isNews || !flying.isFrame || result != .accepted {
            let attempt = DeliveryRecord.Attempt(flying, DeliveryRecord.Answer(result), took: took)
            let sentAt = flying.until - configuration.limits.inFlightMax
            decide(
                slot, through: flying.version, decision, attempt, flying.delay, sentAt, now: now)
        }
        if destinations[slot].phase == .gone {
            decideRest(slot, destinations[slot].noRoute, now: now)
        }
    }

    /// Records a push in flight before another one replaces it, because its answer will not be
    /// used.
    mutating func overtake(_ slot: CardSlot, now: Instant) {
        guard destinations[slot].inFlightUntil != nil, let flying = destinations[slot].inFlight,
            !flying.isFrame
        else { return }
        let sentAt = flying.until - configuration.limits.inFlightMax
        let attempt = DeliveryRecord.Attempt(
            flying, .unknown(reason: "the end went before its answer came"), took: now - sentAt)
        decide(slot, through: flying.version, nil, attempt, flying.delay, sentAt, now: now)
    }

    /// Gives up a push that was not answered in time. Its outcome is unknown.
    mutating func expireInFlight(_ slot: CardSlot, now: Instant) {
        guard let flying = destinations[slot].inFlight, flying.until <= now else { return }
        destinations[slot].inFlight = nil
        let result = PushResult.unknown(reason: "no answer in time")
        if !flying.isFrame, destinations[slot].lastDelivery?.result == nil {
            destinations[slot].lastDelivery?.result = result
        }
        settle(slot, flying, result, now: now)
        account(slot, flying, result, took: configuration.limits.inFlightMax, now: now)
    }

    /// Applies the outcome of a start that came after the start was given up.
    private mutating func startLearned(_ slot: CardSlot, _ result: PushResult, now: Instant) {
        switch result {
        case .accepted: begun(slot, destinations[slot].acknowledged, now: now)
        case .rejected(_, _, .push, _), .rejected(_, _, .topic, _): startRefused(slot, now: now)
        case .rejected, .notSent:
            takeBackStart(slot)
            enter(.waiting, slot, now: now)
        case .unknown: break
        }
    }

    /// Applies the outcome to the upstream. Returns a notice if the upstream closes, opens, or
    /// stays closed for longer.
    private mutating func noteUpstream(
        _ upstream: UpstreamNumber, _ outcome: PushOutcome, now: Instant
    ) -> UpstreamNotice? {
        let result = outcome.result
        let tenant = configuration[upstream].tenant
        let parkedBefore = upstreams[upstream].parkedUntil
        if case .unknown = result {} else { upstreams[upstream].heard(now: now) }
        switch result {
        case .accepted:
            counters[tenant].pushesAccepted += 1
            upstreams[upstream].succeeded()
        case .rejected(_, _, let reaches, _):
            counters[tenant].pushesRejected += 1
            switch reaches {
            case .upstream: fail(upstream, atOnce: false, now: now)
            case .providerToken, .connection: fail(upstream, atOnce: true, now: now)
            case .push, .tokenBackOff, .tokenGone, .tokenMisplaced, .topic:
                upstreams[upstream].succeeded()
            }
        case .notSent:
            counters[tenant].pushesNotSent += 1
            fail(upstream, atOnce: true, now: now)
        case .unknown:
            counters[tenant].pushesUnknown += 1
            upstreams[upstream].unanswered(
                took: outcome.took, probeMax: configuration.limits.probeMax,
                jitter: chance.fraction(), now: now)
        }
        // A failed probe may have another cause than the failure before it, so it gives a notice,
        // too.
        let parked = upstreams[upstream].parkedUntil
        guard parked != parkedBefore else { return nil }
        upstreams[upstream].cause = parked.map { _ in result }
        return UpstreamNotice(
            upstream: upstream, cause: upstreams[upstream].cause,
            silence: upstreams[upstream].silence)
    }

    private mutating func fail(_ upstream: UpstreamNumber, atOnce: Bool, now: Instant) {
        upstreams[upstream].failed(
            atOnce: atOnce, probeMax: configuration.limits.probeMax, jitter: chance.fraction(),
            now: now)
    }

    private mutating func settle(
        _ slot: CardSlot, _ flying: Destination.InFlight, _ result: PushResult, now: Instant
    ) {
        switch result {
        case .accepted: accepted(slot, flying, now: now)
        case .rejected(let status, let reason, let reaches, let since):
            giveBack(slot, flying)
            let isOfPush = reaches == .push || reaches == .topic
            if !isOfPush { destinations[slot].wantAgain(flying, now: now) }
            if isOfPush || reaches == .tokenMisplaced {
                bury(slot, flying, status: status, reason: reason, now: now)
            }
            // The refusal is not before Apple's time for it, in case this relay's clock is behind.
            let word = TokenStanding.Refusal(
                at: max(wall(now), since ?? .distantPast), answer: "\(status) \(reason)",
                environment: configuration[destinations[slot].upstream].environment)
            rejected(slot, flying, reaches, word, goneSince: since, now: now)
        case .notSent:
            giveBack(slot, flying)
            destinations[slot].wantAgain(flying, now: now)
            if flying.event == .start { startFailed(slot, .waiting, now: now) }
        case .unknown:
            // The alert is not sent again, because it may have rung.
            if flying.event == .start { startFailed(slot, .startUnknown, now: now) }
            destinations[slot].contentHash = 0
            destinations[slot].wantAgain(flying, now: now)
            backOff(slot, because: .noAnswer, now: now)
        }
        scheduleCheckpoint(slot, mayWait: result == .accepted && flying.event == .update, now: now)
    }

    /// Lets the destination wait, if its upstream is open. A closed upstream holds all pushes back
    /// itself, and a destination that waits could not be its probe.
    private mutating func backOff(_ slot: CardSlot, because cause: WaitReason, now: Instant) {
        guard upstreams[destinations[slot].upstream].parkedUntil == nil else { return }
        destinations[slot].backOff(because: cause, now: now)
    }

    private mutating func accepted(_ slot: CardSlot, _ flying: Destination.InFlight, now: Instant) {
        destinations[slot].took(flying, at: wall(now))
        let device = destinations[slot].device
        if devices.noteTaken(flying.token, of: device) { writeDevice(device) }
        devices.budgets[device].silentSince = min(devices.budgets[device].silentSince, now)
        switch flying.event {
        case .start:
            if destinations[slot].phase == .starting { begun(slot, flying.version, now: now) }
        case .update: break
        case .end: enter(.ended, slot, now: now)
        }
    }

    /// Handles a start that has begun a card.
    mutating func begun(_ slot: CardSlot, _ version: Int64, now: Instant) {
        guard let destination = destinations.at(slot), startChannel(destination) != nil else {
            enter(.started, slot, now: now)
            return
        }
        listens(slot, sent: version, now: now)
    }

    /// Gives back what an attempt has spent that certainly did not reach the phone.
    private mutating func giveBack(_ slot: CardSlot, _ flying: Destination.InFlight) {
        if flying.event == .start { takeBackStart(slot) }
        destinations[slot].giveBack(flying)
    }

    /// Gives back what such a start has spent: the next one uses its token and its alert.
    private mutating func takeBackStart(_ slot: CardSlot) {
        setHoldsStartToken(slot, true)
        destinations[slot].giveBackStartAlert()
    }

    private mutating func rejected(
        _ slot: CardSlot, _ flying: Destination.InFlight, _ reaches: BlastRadius,
        _ word: TokenStanding.Refusal, goneSince: Instant?, now: Instant
    ) {
        switch reaches {
        case .push, .topic:
            destinations[slot].refused(flying)
            if flying.event == .start, destinations[slot].phase == .starting {
                startRefused(slot, now: now)
            }
            if flying.event == .end { enter(.ended, slot, now: now) }
        case .tokenGone, .tokenMisplaced:
            tokenGone(slot, flying, reaches, word, since: goneSince, now: now)
        case .tokenBackOff, .upstream:
            if flying.event == .start { startFailed(slot, .waiting, now: now) }
            guard reaches == .tokenBackOff else {
                return backOff(slot, because: .appleError, now: now)
            }
            destinations[slot].backOff(because: .tokenBackOff, now: now)
            if flying.event == .start { backOffStarts(like: slot) }
        case .providerToken, .connection:
            if flying.event == .start { startFailed(slot, .waiting, now: now) }
        }
    }

    /// Notes that a start has failed, unless its card is known to exist.
    private mutating func startFailed(
        _ slot: CardSlot, _ phase: Destination.Phase, now: Instant
    ) {
        guard destinations[slot].phase == .starting else { return }
        enter(phase, slot, now: now)
    }

    /// Handles the final refusal of a start. Only an operator can retry it.
    private mutating func startRefused(_ slot: CardSlot, now: Instant) {
        enter(.gone, slot, now: now)
        destinations[slot][.startWasRefused] = true
    }

    /// Retires a dead token, unless the device has another one, or registered this one shortly
    /// after the time in Apple's answer.
    private mutating func tokenGone(
        _ slot: CardSlot, _ flying: Destination.InFlight, _ reaches: BlastRadius,
        _ word: TokenStanding.Refusal, since: Instant?, now: Instant
    ) {
        guard let destination = destinations.at(slot) else { return }
        if devices[destination.device]?.channel != nil { return channelGone(slot, now: now) }
        let name: TokenName
        if flying.event == .start {
            name = .start(type: activities[destination.activity].definition.type)
            startFailed(slot, .waiting, now: now)
        } else {
            name = .activity(reference(destination))
        }
        guard let token = devices[destination.device]?.tokens[name], token.value == flying.token
        else {
            // The device has another token now, or none.
            if flying.event != .start, destination.token == flying.token {
                destinations[slot].token = nil
                cardGone(slot, reaches, now: now)
            }
            return
        }
        if isDoubted(since, of: token, now: now) {
            destinations[slot].backOff(because: .tokenDoubted, now: now)
            return
        }
        if case .start(let type) = name {
            // If the device is deleted and comes back, it may send the same token again.
            keepHistory(ofToken: token.value, type: type, destination.device, now: now)
        }
        devices[known: destination.device].retire(name, word)
        releaseToken(token.value, of: destination.device)
        writeDevice(destination.device)
        let activity = activities[destination.activity].number
        noteFact("token.retired", of: destination.device, activity, now: now) {
            $0.member("token", name.text)
        }
        guard flying.event != .start else { return }
        destinations[slot].token = nil
        cardGone(slot, reaches, now: now)
    }

    /// True if Apple's answer says that the token was dead before it was registered, and the answer
    /// came soon after the registration. A later answer is believed: either the app had sent the
    /// token late, or the clocks differ. How soon it came is monotonic time: the clock may have
    /// been wrong at the registration and set right since.
    func isDoubted(_ since: Instant?, of token: Device.Token, now: Instant) -> Bool {
        guard let since, since < token.registeredAt else { return false }
        let registeredAt = clock.shownAt(token.registeredAt, now: now)
        return clock.hasShown(token.registeredAt, now: now)
            && now - registeredAt < configuration.limits.oldWord
    }

    func reference(_ destination: Destination) -> ActivityReference {
        ActivityReference(
            id: activities[destination.activity].key.id, incarnation: destination.incarnation,
            renewal: destination.renewal)
    }

    /// Lets all starts of this type on the device wait, because they use one token.
    private mutating func backOffStarts(like slot: CardSlot) {
        guard let destination = destinations.at(slot) else { return }
        let name = TokenName.start(type: activities[destination.activity].definition.type)
        devices[known: destination.device].startBackOffs[name] = destination.pacing.backOffUntil
    }

    /// Until when this start must wait after another start's refusal; nil if it need not.
    func startsBackOff(_ slot: CardSlot, now: Instant) -> Instant? {
        guard let destination = destinations.at(slot) else { return nil }
        let name = TokenName.start(type: activities[destination.activity].definition.type)
        return devices[destination.device]?.startBackOffs[name].flatMap { $0 > now ? $0 : nil }
    }
}
