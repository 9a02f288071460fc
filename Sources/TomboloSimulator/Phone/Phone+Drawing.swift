/// Drawing: a phone draws a picture now and then, and always the newest state in the end.
extension Phone {
    /// The least time between two pictures of a card. People saw one picture in 5 to 15 s from iOS
    /// 18 on.
    package var drawsEvery: Duration {
        if let given = configuration.drawsEvery { return given }
        if configuration.budgetClass == .lab { return .zero }
        if hasWatch { return .seconds(15) }
        return configuration.osMajor >= 18 ? .seconds(5) : .zero
    }

    /// A card got a new state or the same again: draws it as soon as the phone draws.
    mutating func draw(_ index: Int, at now: WallInstant, _ effects: inout [PhoneEffect]) {
        let isSame = !cards[index].isBehind && cards[index].drawnPhase == cards[index].phase
        // An equal picture is not drawn again, and a locked phone draws no equal state.
        if isSame && cards[index].drawDueAt == nil || isLocked && !cards[index].isBehind { return }
        let due = cards[index].drawnAt + drawsEvery
        guard now >= due else {
            cards[index].drawDueAt = due
            return
        }
        picture(index, at: now, &effects)
    }

    /// Asks the widget extension for a picture, if it still answers.
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

    /// The stale date has passed. The picture changes only if the extension runs.
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
