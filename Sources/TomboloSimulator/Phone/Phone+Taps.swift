/// What the app knew of the page that a tap opened.
package struct OpenedPage: Hashable, Sendable {
    /// Whose states these are; nil: nothing says it.
    package var type: String?
    /// As it was drawn when it was tapped; empty: nothing was.
    package var state: [UInt8]
}

/// What a person taps: cards, links and buttons.
extension Phone {
    /// Taps a card, a link, or a button that runs an intent. A tap unlocks the phone, as a face
    /// does, and opens the app; a button does neither.
    ///
    /// - Parameters:
    ///   - widget: the kind of the widget that was tapped; nil: none was.
    ///   - config: what it, or its item, is configured to.
    package mutating func tap(
        activity: String?, widget: String? = nil, config: String? = nil, link: String? = nil,
        intent: String? = nil, parameters: [UInt8]? = nil,
        at now: WallInstant
    ) -> [PhoneEffect] {
        var effects = advance(to: now)
        if intent == nil { effects += setLocked(false, at: now) + move(to: .active, at: now) }
        if intent == nil {
            opened = link ?? activity.map { "app://activity/" + $0 }
            openedPage = cards.last { $0.activityID == activity && activity != nil }.map {
                OpenedPage(type: $0.attributesType, state: $0.drawnState)
            }
        }
        var tap = PhoneTap(
            number: (lastTap?.number ?? 0) + 1, activity: activity, widget: widget,
            config: config, link: link, intent: intent, parameters: parameters, at: now)
        if isOnline {
            effects.append(.tapped(tap))
        } else {
            tap.outcome = .notSent(reason: "the phone is offline")
        }
        lastTap = tap
        return effects
    }

    /// What the relay said to a tap; one that is over already stays as it is.
    package mutating func tapEnded(_ number: Int, _ outcome: PhoneTap.Outcome) {
        guard lastTap?.number == number, lastTap?.outcome == .waiting else { return }
        lastTap?.outcome = outcome
    }
}
