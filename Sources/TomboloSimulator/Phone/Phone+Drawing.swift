/// Drawing. A phone does not draw each state, but in the end always the newest one.
extension Phone {
    /// Minimum time between two pictures of a card. From iOS 18 on, people observed one picture in
    /// 5 to 15 s.
    package var drawsEvery: Duration {
        if let given = configuration.drawsEvery { return given }
        if configuration.budgetClass == .lab { return .zero }
        if hasWatch { return .seconds(15) }
        return configuration.osMajor >= 18 ? .seconds(5) : .zero
    }

    /// A card got a state, new or equal: draws it as soon as the phone may draw again.
    mutating func draw(_ index: Int, at now: WallInstant, _ effects: inout [PhoneEffect]) {
        let isSame = !cards[index].isBehind && cards[index].drawnPhase == cards[index].phase
        // An equal state is not drawn while the next picture is due or the phone is locked.
        if isSame && cards[index].drawDueAt == nil || isLocked && !cards[index].isBehind { return }
        let due = cards[index].drawnAt + drawsEvery
        guard now >= due else {
            cards[index].drawDueAt = due
            return
        }
        picture(index, at: now, &effects)
    }

    /// Draws a picture, if the widget extension still works.
    mutating func picture(_ index: Int, at now: WallInstant, _ effects: inout [PhoneEffect]) {
        cards[index].drawDueAt = nil
        guard !trouble.kinds.contains(.extensionFrozen), !cards[index].hasOverlay else { return }
        if trouble.kinds.contains(.loadingOverlay), presence == .background {
            cards[index].hasOverlay = true
            return
        }
        cards[index].drawnState = cards[index].contentState
        cards[index].drawnPhase = cards[index].phase
        cards[index].drawnAt = now
        cards[index].drawnCount += 1
        drawnCount += 1
        effects.append(.drawn(cards[index]))
    }

    /// Draws a card whose stale date has passed, if the extension runs.
    mutating func drawStale(_ index: Int, at now: WallInstant, _ effects: inout [PhoneEffect]) {
        guard !isTerminated, !trouble.kinds.contains(.staleNotDrawn) else { return }
        picture(index, at: now, &effects)
    }

    /// The app is opened: overlays disappear, and their cards are drawn.
    mutating func removeOverlays(at now: WallInstant, _ effects: inout [PhoneEffect]) {
        for index in cards.indices where cards[index].hasOverlay {
            cards[index].hasOverlay = false
            picture(index, at: now, &effects)
        }
    }
}
