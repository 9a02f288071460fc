import TomboloCore
import TomboloLoop

// An accepted push is no receipt (rule 15).

extension World {
    /// Whether a card that has lost an update must have got it once more: its phone has been heard
    /// of since the heal, and Apple has not taken the newest state three times already.
    func isToBeEchoed(_ card: Card, _ phone: Phone) -> Bool {
        guard plan.tellsAtHeal, card.hasLostUpdate, !card.hasLostEnd, !card.wasRefused,
            !card.isUpdatedLocally,
            card.channel == nil, let outbox = outboxes[key(phone, card.reference)],
            let (_, model) = reference.model(
                tenant: phone.tenant, id: card.reference.id.rawValue), !model.hasEnded
        else { return false }
        let taken = outbox.sends.count { $0.mark == model.mark && $0.fate == .accepted }
        return taken > 0 && taken <= Echo.countMax
    }

    /// The same of the end of a card that another user has left, where one life of the relay has
    /// sent all that went to it.
    func isEndToBeEchoed(_ card: Card, _ phone: Phone) -> Bool {
        let others: [Fault] = [
            .channels, .deletedDevices, .secondIDs, .restores, .months, .cardLives, .wrongClock,
            .wallSteps, .suspends, .reboots,
        ]
        guard plan.tellsAtHeal, card.isLeft, card.hasLostEnd, !card.wasRefused,
            !others.contains(where: { faults.contains(FaultSet($0)) }),
            let sends = outboxes[key(phone, card.reference)]?.sends,
            sends.allSatisfy({ $0.life == life?.number }),
            sends.contains(where: { $0.event != .end && $0.fate == .accepted }),
            let (_, model) = reference.model(
                tenant: phone.tenant, id: card.reference.id.rawValue),
            !model.hasEnded, model.incarnation == card.reference.incarnation
        else { return false }
        let ends = sends.filter { $0.event == .end && $0.fate != .refused }
        return ends.count <= Echo.countMax && ends.allSatisfy { $0.token == card.token }
    }

    /// What Apple has taken goes at most twice more, where nothing else repeats it.
    func checkEchoes(_ key: CardKey, _ outbox: Outbox) {
        let others: [Fault] = [
            .clips, .tweens, .bundles, .retries, .restores, .rotation, .oldTokens, .lateStates,
            .deletedDevices, .changedUsers, .secondIDs,
            // What a phone has dropped for a clock goes once more.
            .wallSteps, .suspends, .wrongClock,
        ]
        guard !others.contains(where: { faults.contains(FaultSet($0)) }) else { return }
        struct Change: Hashable {
            var life: Int
            var mark: Int64
            var event: Push.Event
            // A device may claim a card again and again, each time with a new token.
            var token: String
        }
        var repeated: [Change: Int] = [:]
        for sent in outbox.sends
        where sent.fate == .accepted && sent.event != .start && !sent.isStale && sent.alert == nil {
            // The relay has not waited for an answer that came later.
            guard let answered = sent.answeredAt, answered - sent.at < .seconds(10) else {
                continue
            }
            let change = Change(
                life: sent.life, mark: sent.mark, event: sent.event, token: sent.token)
            repeated[change, default: 0] += 1
            // A state that had to share its second goes once more with one of its own, and one of
            // which a later outcome was awaited too.
            guard repeated[change] == Echo.countMax + 4 else { continue }
            violated(
                .echo,
                "phone \(key.phone) \(key.reference.text): mark \(sent.mark) for the "
                    + "\(repeated[change] ?? 0)th time in life \(sent.life)")
        }
    }
}
