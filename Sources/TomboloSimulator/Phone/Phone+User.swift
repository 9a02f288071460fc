/// Actions of the user, the system and the app on a phone, apart from pushes.
extension Phone {
    /// The user taps "Allow" on the Lock Screen: the app gets the update token now.
    ///
    /// Has no effect if there is no such card, or if it already has its token.
    package mutating func allow(activityID: String, at now: WallInstant) -> [PhoneEffect] {
        let effects = advance(to: now)
        guard let index = card(activityID), cards[index].updateToken == nil, !cards[index].isOver
        else { return effects }
        cards[index].updateTokenDueAt = now
        cards[index].isDenied = false
        return effects + advance(to: now)
    }

    /// The system rotates the update token: the app gets a new one, the old one is invalid.
    package mutating func rotate(activityID: String, at now: WallInstant) -> [PhoneEffect] {
        var effects = advance(to: now)
        guard let index = card(activityID), cards[index].updateToken != nil else { return effects }
        retireToken(index, TokenEnd(reason: .unregistered, at: now), at: now, &effects)
        cards[index].updateTokenDueAt = now
        return effects + advance(to: now)
    }

    /// The app updates its activity itself (`Activity.update`). The timestamp counts as for pushes,
    /// but no budget is used.
    package mutating func updateLocally(
        activityID: String, state: [UInt8], at now: WallInstant
    ) -> [PhoneEffect] {
        var effects = advance(to: now)
        guard let index = card(activityID), !cards[index].isOver else { return effects }
        cards[index].timestamp = max(cards[index].timestamp, now.seconds)
        cards[index].localUpdateAt = now
        _ = cards[index].show(state, at: now)
        effects.append(.changed(cards[index], .shown))
        draw(index, at: now, &effects)
        return effects
    }

    /// The user closes the app in the app switcher, or opens it again. While it is closed, a
    /// push-to-start is dropped. Developers report this; Apple's pages do not mention it.
    package mutating func setTerminated(
        _ terminated: Bool, at now: WallInstant
    ) -> [PhoneEffect] {
        let effects = terminated ? move(to: .background, at: now) : advance(to: now)
        isTerminated = terminated
        if terminated { (opened, openedPage) = (nil, nil) }
        return effects
    }

    /// The user taps "Don't Allow": the card stays, and gets no update token.
    package mutating func deny(activityID: String, at now: WallInstant) -> [PhoneEffect] {
        let effects = advance(to: now)
        if let index = card(activityID), cards[index].updateToken == nil {
            cards[index].updateTokenDueAt = nil
            cards[index].isDenied = true
        }
        return effects
    }

    /// Sets the phone's silent faults. If the widget extension works again, the cards whose picture
    /// is behind their state are drawn.
    package mutating func setTrouble(
        _ next: PhoneTrouble, at now: WallInstant
    ) -> [PhoneEffect] {
        var effects = advance(to: now)
        let wasFrozen = trouble.kinds.contains(.extensionFrozen)
        trouble = next
        guard wasFrozen, !next.kinds.contains(.extensionFrozen) else { return effects }
        for index in cards.indices where cards[index].isBehind { draw(index, at: now, &effects) }
        return effects
    }

    /// The user puts on or takes off a watch, which shows the cards too.
    package mutating func setWatch(_ on: Bool) { hasWatch = on }

    private func card(_ activityID: String) -> Int? {
        cards.lastIndex { $0.activityID == activityID }
    }
}
