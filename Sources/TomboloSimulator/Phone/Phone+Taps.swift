/// The state behind the page that a tap opened.
package struct OpenedPage: Hashable, Sendable {
    /// Type of the state; nil if unknown.
    package var type: String?
    /// The state as drawn when it was tapped; empty if nothing was drawn.
    package var state: [UInt8]
}

/// Taps on cards, links and buttons.
extension Phone {
    /// Taps a card, a link, or a button that runs an intent. A tap on a card or link unlocks the
    /// phone (Face ID) and opens the app; a button does neither.
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

    /// Takes the relay's answer to a tap. A tap that already has an outcome keeps it.
    package mutating func tapEnded(_ number: Int, _ outcome: PhoneTap.Outcome) {
        guard lastTap?.number == number, lastTap?.outcome == .waiting else { return }
        lastTap?.outcome = outcome
    }
}
