import TestSupport
import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay

/// An end that only takes a card away: its phone is not to see what the activity ended with.
struct BareEnd {
    var timestamp: Int64

    /// Nil of any other push.
    init?(_ push: Push) {
        guard push.event == .end,
            let aps = JSON(unchecked: push.payload).document.root["aps"],
            aps["content-state"] == nil, let timestamp = aps["timestamp"]?.integer
        else { return nil }
        self.timestamp = timestamp
    }
}

extension World {
    /// Looks at such an end as it is handed over: only who is not in the audience gets it.
    func checkBareEnd(
        _ push: Push, _ end: BareEnd, _ token: Apple.Token, _ key: CardKey, _ life: Life
    ) {
        let activity = key.reference.id.rawValue
        let outbox = outboxes[key] ?? Outbox(type: Plan.type(of: activity))
        outboxes[key] = outbox
        func check(_ holds: Bool, _ promise: Promise, _ detail: @autoclosure () -> String) {
            guard !holds else { return }
            violated(promise, "phone \(key.phone) \(key.reference.text) bare end: \(detail())")
        }
        let phone = token.phone
        check(
            phone.changedHandsAt != nil || phone.ids.count > 1 || phone.wasDeleted
                || !isForAll(since: key.reference, phone), .ended,
            "it is for the phone")
        check(
            !retiredTokens.contains(push.token), .retired, "\(push.token) is retired on record")
        for pause in pauses where pause.holds(phone.tenant, activity) && !pause.alertsOnly {
            check(false, .paused, "pause \(pause.number) holds")
        }
        let sent = Outbox.Sent(
            at: loop.now, life: life.number, push: push.id, event: .end, priority: push.priority,
            timestamp: end.timestamp, mark: 0, mayShare: false, isFrame: false, isStale: false,
            token: push.token)
        for (promise, detail) in outbox.faults(sent) { check(false, promise, detail) }
        outbox.sends.append(sent)
        note(
            .push, who: phone.number, 0, Int64(push.priority),
            "bare end \(key.reference.text) life=\(life.number)")
    }

    /// Whether whatever has run under a card's name since it began is for a phone: the relay knows
    /// the audience of the time at which the card's token came.
    private func isForAll(since card: ActivityReference, _ phone: Phone) -> Bool {
        guard let (number, newest) = reference.model(tenant: phone.tenant, id: card.id.rawValue),
            card.incarnation <= newest.incarnation
        else { return false }
        return (card.incarnation...newest.incarnation).allSatisfy {
            let name = Reference.Incarnation(activity: number, number: $0)
            return reference.audiences[name]?.isFor(phone) == true
        }
    }

    /// It arrives at a phone that is online.
    func receiveBareEnd(_ card: Card?, _ phone: Phone) {
        guard let card, !card.isDismissed, !card.hasEnded else { return }
        card.hasEnded = true
        note(.delivered, who: phone.number, 0, 0, "bare end")
    }
}
