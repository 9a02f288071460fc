/// What happens on a phone by itself: "Allow", staleness, the end after 8 hours, dismissal.
extension Phone {
    /// When `advance(to:)` has something to do next; nil if nothing waits.
    package var deadline: WallInstant? {
        let own = [
            heldUntil, heldOverBudgetUntil, lateStarts.map(\.due).min(),
            board.deadline(isOnline: isOnline),
        ]
        return (cards.compactMap(\.deadline) + dyingTokens.map(\.end.at) + own.compactMap(\.self))
            .min()
    }

    /// Performs everything that is due by `now`.
    package mutating func advance(to now: WallInstant) -> [PhoneEffect] {
        var effects: [PhoneEffect] = []
        for push in takeDue(at: now) { take(push, at: now, &effects) }
        takeLateStarts(at: now, &effects)
        releaseHeld(at: now, &effects)
        for index in cards.indices {
            while let deadline = cards[index].deadline, deadline <= now {
                step(index, at: deadline, &effects)
            }
        }
        if !effects.isEmpty { cards.removeAll { $0.phase == .dismissed } }
        retireDyingTokens(at: now, &effects)
        return effects + carryOut(board.advance(to: now, isOnline: isOnline))
    }

    /// The user swipes the card off the Lock Screen, and it is dismissed. Apple still answers
    /// pushes to its token with 200 for some hours.
    ///
    /// Has no effect if there is no such card. If several cards have the id, the newest is swiped.
    package mutating func swipeAway(activityID: String, at now: WallInstant) -> [PhoneEffect] {
        var effects = advance(to: now)
        guard let index = cards.lastIndex(where: { $0.activityID == activityID }) else {
            return effects
        }
        cards[index].isSwiped = true
        dismiss(index, at: now, &effects)
        cards.remove(at: index)
        return effects
    }

    private mutating func step(
        _ index: Int, at instant: WallInstant, _ effects: inout [PhoneEffect]
    ) {
        if let due = cards[index].drawDueAt, due <= instant {
            picture(index, at: instant, &effects)
        } else if case .ended = cards[index].phase {
            dismiss(index, at: instant, &effects)
        } else if let due = cards[index].updateTokenDueAt, due <= instant {
            issueUpdateToken(index, at: instant, &effects)
        } else if instant >= cards[index].startedAt + ActivityCard.activeTimeMax {
            cards[index].phase = .ended(until: instant + ActivityCard.endedTimeMax)
            retireToken(
                index, TokenEnd(reason: .expiredToken, at: instant), at: instant, &effects)
            effects.append(.changed(cards[index], .ended))
        } else {
            cards[index].phase = .stale
            effects.append(.changed(cards[index], .stale))
            drawStale(index, at: instant, &effects)
        }
    }

    private mutating func issueUpdateToken(
        _ index: Int, at now: WallInstant, _ effects: inout [PhoneEffect]
    ) {
        let token = makeUpdateToken()
        cards[index].updateTokenDueAt = nil
        cards[index].updateToken = token
        purposes[token] = .card(cards[index].number)
        effects.append(.tokenIssued(token, .update(activityID: cards[index].activityID)))
        if let life = trouble.tokenDiesAfter, cards[index].startedAt + life > now {
            let end = TokenEnd(reason: .unregistered, at: cards[index].startedAt + life)
            let purpose = TokenPurpose.update(activityID: cards[index].activityID)
            dyingTokens.append(DyingToken(token: token, purpose: purpose, end: end))
        }
    }

    mutating func dismiss(_ index: Int, at now: WallInstant, _ effects: inout [PhoneEffect]) {
        let end = TokenEnd(reason: .unregistered, at: now + trouble.deadTokenGrace)
        retireToken(index, end, at: now, &effects)
        cards[index].phase = .dismissed
        effects.append(.changed(cards[index], .dismissed))
    }
}
