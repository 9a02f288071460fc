import TestSupport
import TomboloCore
import TomboloLoop
import TomboloRelay

// What the relay sends.

extension Seam {
    /// A push on its way from the relay to Apple; `hand` hands it over.
    func pass(_ push: Push, _ life: Life, _ hand: @escaping (Push) -> Void) {
        guard mutant != nil else { return hand(push) }
        let push = changed(push, life)
        if isSwallowed(push) { return swallow(push, life) }
        if heldUntil(push) != nil { return hold(push, life, hand) }
        passed(push)
        hand(push)
    }

    private func passed(_ push: Push) {
        passedAt[push.token] = world.loop.now
        newest[push.token] = push.id
        marks[push.token] = PushContent(push)?.mark
    }

    // MARK: Another push

    private func changed(_ push: Push, _ life: Life) -> Push {
        var push = push
        switch mutant {
        case .framesAtTen where isFrame(push) && push.surface == .activity: push.priority = 10
        case .endsAtFive where push.event == .end: push.priority = 5
        case .channelExpiration where push.surface == .channel:
            push.expiration = wallNow(life).seconds + 60
        case .timestampOfTheClock where !push.isReload:
            set("timestamp", to: "\(wallNow(life).seconds)", in: &push)
        case .clipSampledAtItsPeriod where isFrame(push): sampleAtPeriod(&push, life)
        case .bundleLostWithChange where push.event == .update && !isFrame(push):
            if PushContent(push)?.bundle != nil { remove("clip", from: &push) }
        case .bundleBegunAnew:
            if let bundle = PushContent(push)?.bundle {
                set("began", to: "\(bundle.began + 1)", in: &push)
            }
        case .startBudgetForgottenAtDelete:
            push.token = reborn.given(push.token)
        case .channelOfAnotherIncarnation: keepChannel(&push)
        case .dateOfTheEcho where isRepeated(push):
            set("stale-date", to: "\(wallNow(life).seconds + 600)", in: &push)
        case .endShownToStranger where PushContent(push)?.isBare == true: showState(&push)
        case .stateOfAnotherLife where isLateEnd(push): showState(&push)
        case .cardNamedTwice where push.event == .start: takeOldName(&push)
        default: break
        }
        return push
    }

    /// Only frames are not to be kept by Apple.
    private func isFrame(_ push: Push) -> Bool { push.event == .update && push.expiration == 0 }

    /// It says what its token has got last.
    private func isRepeated(_ push: Push) -> Bool {
        guard push.event == .update, let content = PushContent(push), content.isStale else {
            return false
        }
        return marks[push.token] == content.mark
    }

    private func wallNow(_ life: Life) -> Instant {
        life.relay?.assumeIsolated { $0.wallNow() } ?? world.clock.now()
    }

    private func set(_ name: String, to value: String, in push: inout Push) {
        var text = JSONText(push.payload)
        text.set(name, to: value)
        push.payload = text.bytes
    }

    private func remove(_ name: String, from push: inout Push) {
        var text = JSONText(push.payload)
        text.remove(name)
        push.payload = text.bytes
    }

    /// A loop's frame is the one that its clock is at: sent once a period, it is always the same.
    private func sampleAtPeriod(_ push: inout Push, _ life: Life) {
        guard
            let play = PushContent(push)?.frame?.split(separator: "-").first.flatMap({ Int64($0) }),
            world.reference.loops[play] != nil, let flip = world.reference.flips[play]
        else { return }
        let elapsed = Double((wallNow(life) - flip.playedAt).nanoseconds) / 1e9
        let index = Int(elapsed / flip.every) % flip.frames.count
        set("f", to: "\"\(flip.frames[max(0, index)])\"", in: &push)
    }

    /// An end says what the activity shows now.
    private func showState(_ push: inout Push) {
        guard let model = card(of: push).flatMap({ model(of: $0) }) else { return }
        let state = "{\"t\":\"\(model.tenant.name)\",\"a\":\"\(model.id)\",\"n\":\(model.mark)}"
        guard PushContent(push)?.isBare == true else {
            return set("content-state", to: state, in: &push)
        }
        set("event", to: "\"end\",\"content-state\":\(state)", in: &push)
    }

    private func model(of card: CardKey) -> Reference.Model? {
        guard card.phone >= 0 else { return nil }
        return world.reference.model(
            tenant: world.phones[card.phone].tenant, id: card.reference.id.rawValue)?.1
    }

    /// It ends a card of an earlier life that has had no update: its token came late.
    private func isLateEnd(_ push: Push) -> Bool {
        guard push.event == .end, let card = card(of: push), let model = model(of: card) else {
            return false
        }
        let hasUpdate = world.outboxes[card]?.sends.contains { $0.event == .update } ?? false
        return card.reference.incarnation < model.incarnation && !hasUpdate
    }

    /// A start for a device that was deleted takes the name of the card from before.
    private func takeOldName(_ push: inout Push) {
        guard var card = card(of: push), let before = card.reference.renewedFrom else { return }
        card.reference = before
        guard let outbox = world.outboxes[card],
            let start = outbox.sends.last(where: { $0.event == .start }),
            outbox.hasDeparted(since: start.at)
        else { return }
        set("activity_id", to: "\"\(before.text)\"", in: &push)
    }

    /// An activity that begins again goes on with the channel that it had.
    private func keepChannel(_ push: inout Push) {
        guard let mark = PushContent(push)?.mark,
            let activity = world.reference.origins[mark]?.activity
        else { return }
        if push.surface == .channel, world.apple.channels[push.token]?.isNamed == false {
            push.token = channels[activity] ?? push.token
            channels[activity] = push.token
        } else if push.event == .start, let channel = PushContent(push)?.channel {
            let kept = channels[activity] ?? channel
            channels[activity] = kept
            set("input-push-channel", to: "\"\(kept)\"", in: &push)
        }
    }

    // MARK: No push

    /// Where the relay is to believe that Apple has taken it.
    private func isSwallowed(_ push: Push) -> Bool {
        switch mutant {
        case .noTrailingValue:
            // A throttle that lets through what comes first, and nothing that comes soon after.
            guard push.event == .update, !isFrame(push), !push.isReload,
                let last = passedAt[push.token]
            else { return false }
            return world.loop.now - last < .seconds(20)
        case .predecessorKept:
            guard push.event == .end, let card = card(of: push) else { return false }
            var next = card
            next.reference = card.reference.renewed
            return world.outboxes[next] != nil
        case .leftCardKept: return BareEnd(push) != nil
        case .refreshForgotten: return isRepeated(push)
        case .leftCardForgotten:
            guard BareEnd(push) != nil, let card = card(of: push) else { return false }
            return world.outboxes[card]?.sends.contains {
                $0.event == .end && $0.fate == .accepted
            } ?? false
        case .channelBeforeEnd:
            return push.event == .end && world.apple.channels[push.token]?.isNamed == true
        default: return false
        }
    }

    // MARK: A later push

    /// How long a push is kept back; nil where it goes now.
    private func heldUntil(_ push: Push) -> MonotonicInstant? {
        let until: MonotonicInstant
        switch mutant {
        case .debounceFromLastEvent:
            guard push.event == .update, !isFrame(push), !push.isReload, let card = card(of: push),
                let phone = world.phones.first(where: { $0.number == card.phone }),
                let model = world.reference.model(
                    tenant: phone.tenant, id: card.reference.id.rawValue)?.1
            else { return nil }
            until = MonotonicInstant(nanoseconds: model.changedAt) + .seconds(20)
        case .endHeldBack:
            guard push.event == .end, let last = passedAt[push.token] else { return nil }
            until = last + .seconds(60)
        default: return nil
        }
        return until > world.loop.now ? until : nil
    }

    /// The newest push of a token waits; one before it is as good as lost.
    private func hold(_ push: Push, _ life: Life, _ hand: @escaping (Push) -> Void) {
        if let before = held[push.token], before.life === life {
            let result = PushResult.unknown(reason: "a newer one has its place")
            let outcome = PushOutcome(push: before.push.id, result: result, took: .zero)
            world.after(.milliseconds(1)) { if !life.isDead { life.relay?.pushEnded(outcome) } }
        }
        held[push.token] = (push, life)
        look(push, life, hand)
    }

    private func look(_ push: Push, _ life: Life, _ hand: @escaping (Push) -> Void) {
        guard !life.isDead, held[push.token]?.push.id == push.id else { return }
        guard let until = heldUntil(push) else {
            held[push.token] = nil
            // What must not go by now is lost, as its outcome is.
            guard !world.isPausedForSure(push) else { return }
            passed(push)
            return hand(push)
        }
        world.after(until - world.loop.now) { [self] in look(push, life, hand) }
    }
}
