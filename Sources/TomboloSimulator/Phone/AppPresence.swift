/// Where the phone's app is, as its user sees it.
package enum AppPresence: String, Hashable, Sendable {
    case active, background
    /// In front, under the Control Center.
    case covered

    /// As the relay's API spells the report of it.
    var phase: String { self == .covered ? "inactive" : rawValue }
    var cause: String? { self == .covered ? "control_center" : nil }
}

extension Phone {
    /// The user opens the app, leaves it, or pulls the Control Center over it. On a locked phone
    /// nothing of that can be done; the Control Center needs an app in front, and goes back to it
    /// with `active`.
    package mutating func move(to place: AppPresence, at now: WallInstant) -> [PhoneEffect] {
        var effects = advance(to: now)
        guard !isLocked, place != presence, place != .covered || presence == .active else {
            return effects
        }
        presence = place
        use(at: now, &effects)
        effects.append(.moved(place))
        guard place == .active else { return effects }
        isTerminated = false
        trouble.kinds.remove(.startTokenSilent)
        removeOverlays(at: now, &effects)
        return effects + readStartTokens()
    }

    /// The side button: the app in front goes to the background.
    package mutating func setLocked(_ locked: Bool, at now: WallInstant) -> [PhoneEffect] {
        var effects = locked ? move(to: .background, at: now) : advance(to: now)
        guard locked != isLocked else { return effects }
        isLocked = locked
        if !locked {
            use(at: now, &effects)
            wake(at: now, &effects)
        }
        return effects
    }

    /// A finger on the glass: the phone is in use.
    package mutating func touch(at now: WallInstant) -> [PhoneEffect] {
        var effects = advance(to: now)
        guard !isLocked else { return effects }
        use(at: now, &effects)
        return effects
    }

    /// The phone is switched off and on: it is locked, and no app is in front. Cards, tokens and
    /// budgets stay.
    package mutating func restart(at now: WallInstant) -> [PhoneEffect] {
        setLocked(true, at: now)
    }
}
