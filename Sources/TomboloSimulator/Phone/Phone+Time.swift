/// What happens on a phone by itself: "Allow", staleness, the end after 8 hours, dismissal.
extension Phone {
    /// The next instant at which `advance(to:)` has something to do; nil where nothing waits.
    package var deadline: WallInstant? {
        (cards.compactMap(\.deadline) + [heldUntil].compactMap(\.self)).min()
    }

    /// Lets time pass up to `now`.
    package mutating func advance(to now: WallInstant) -> [PhoneEffect] {
        var effects: [PhoneEffect] = []
        for push in takeDue(at: now) { take(push, at: now, &effects) }
        for index in cards.indices {
            while let deadline = cards[index].deadline, deadline <= now {
                step(index, at: deadline, &effects)
            }
        }
        if !effects.isEmpty { cards.removeAll { $0.phase == .dismissed } }
        return effects
    }

    /// The user swipes the card off the Lock Screen: it is gone, and its token with it.
    ///
    /// Without such a card nothing happens. Of several with the id it takes the newest.
    package mutating func swipeAway(activityID: String, at now: WallInstant) -> [PhoneEffect] {
        var effects = advance(to: now)
        guard let index = cards.lastIndex(where: { $0.activityID == activityID }) else {
            return effects
        }
        dismiss(index, &effects)
        cards.remove(at: index)
        return effects
    }

    private mutating func step(
        _ index: Int, at instant: WallInstant, _ effects: inout [PhoneEffect]
    ) {
        if case .ended = cards[index].phase {
            dismiss(index, &effects)
        } else if let due = cards[index].updateTokenDueAt, due <= instant {
            issueUpdateToken(index, &effects)
        } else if instant >= cards[index].startedAt + ActivityCard.activeTimeMax {
            cards[index].phase = .ended(until: instant + ActivityCard.endedTimeMax)
            retireToken(index, &effects)
            effects.append(.changed(cards[index], .ended))
        } else {
            cards[index].phase = .stale
            effects.append(.changed(cards[index], .stale))
        }
    }

    private mutating func issueUpdateToken(_ index: Int, _ effects: inout [PhoneEffect]) {
        let token = makeUpdateToken()
        cards[index].updateTokenDueAt = nil
        cards[index].updateToken = token
        purposes[token] = .card(cards[index].number)
        effects.append(.tokenIssued(token, .update(activityID: cards[index].activityID)))
    }

    private mutating func dismiss(_ index: Int, _ effects: inout [PhoneEffect]) {
        retireToken(index, &effects)
        cards[index].phase = .dismissed
        effects.append(.changed(cards[index], .dismissed))
    }

    mutating func retireToken(_ index: Int, _ effects: inout [PhoneEffect]) {
        guard let token = cards[index].updateToken else { return }
        cards[index].updateToken = nil
        purposes[token] = nil
        effects.append(.tokenRetired(token, .update(activityID: cards[index].activityID)))
    }
}
