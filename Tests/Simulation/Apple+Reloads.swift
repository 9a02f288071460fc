import TestSupport
import TomboloCore
import TomboloLoop
import TomboloRelay

// Pushes to widgets and controls.

extension Apple {
    /// Looks at a reload as the relay hands it over. False: it is for nobody.
    func admitReload(_ push: Push, _ life: Life) -> Bool {
        guard let token = surfaceTokens[push.token] else {
            world.violated(.tenants, "a reload that is for nobody: \(push.token)")
            return false
        }
        world.checkReload(push, token, life)
        world.note(
            .push, who: token.book.phone.number, 0, Int64(push.priority),
            "reload of \(token.book.name.text) by \(push.token) life=\(life.number)")
        return true
    }

    func decideReload(_ push: Push, _ reply: @escaping (PushResult) -> Void) {
        let quick = world.dice.time(.network, 5...200)
        if let since = surfaceTokens[push.token]?.goneSince {
            let result = PushResult.rejected(
                status: 410, reason: "Unregistered", reaches: .tokenGone, tokenGoneSince: since)
            answer(result, after: quick, reply)
        } else if world.strikes(.refused, .apple, oneIn: 20) {
            let result = PushResult.rejected(
                status: 400, reason: "BadMessageId", reaches: .push, tokenGoneSince: nil)
            answer(result, after: quick, reply)
        } else {
            weather(push, quick, reply)
        }
    }

    /// The relay has been told what became of a reload.
    func toldReload(_ outcome: PushOutcome, _ push: Push, _ life: Life) {
        guard let token = surfaceTokens[push.token] else { return }
        let book = token.book
        var fate = Outbox.Fate.refused
        switch outcome.result {
        case .accepted: fate = .accepted
        case .unknown: fate = .unknown
        case .rejected(_, _, .push, _):
            let sent = book.sent.sends.last { $0.push == push.id && $0.life == life.number }
            book.refusedAt = sent?.at
        case .rejected(_, _, .tokenGone, _):
            token.toldGoneIn = life.number
            if book.known == push.token { book.known = nil }
        case .rejected, .notSent: break
        }
        if fate != .accepted { world.trouble() }
        book.sent.answered(push.id, life: life.number, fate, at: world.loop.now)
        world.note(
            .outcome, who: book.phone.number, 0, 0, "\(book.name.text) \(outcome.result)")
        if let outcome = world.seam.outcome(outcome, of: push, life) {
            life.relay?.pushEnded(outcome)
        }
    }

    /// A phone that is away asks for what is new when it is back: what was kept for it is not told
    /// apart.
    func deliverReload(_ push: Push) {
        guard let book = surfaceTokens[push.token]?.book else { return }
        let isLost = !book.phone.isOnline && push.expiration == 0
        world.note(isLost ? .lost : .delivered, who: book.phone.number, 0, 0, book.name.text)
        if !isLost, book.name == .widget, book.isThere { world.fetch(book.phone) }
    }
}
