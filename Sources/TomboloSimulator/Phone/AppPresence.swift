/// Where the phone's app is, as its user sees it.
package enum AppPresence: String, Hashable, Sendable {
    case active, background
    /// In front, under the Control Center.
    case covered
    /// In the app switcher: it has resigned, and is not in the background yet.
    case inactive

    /// As the relay's API spells the report of it.
    var phase: String { self == .covered ? AppPresence.inactive.rawValue : rawValue }
    var cause: String? { self == .covered ? "control_center" : nil }
}

extension Phone {
    /// The user opens the app, leaves it, pulls the Control Center over it, or opens the app
    /// switcher. On a locked phone nothing of that can be done; Control Center and switcher need an
    /// app in front, and go back to it with `active`.
    ///
    /// The app learns only that it resigns. It reports its own verdict, by the touches before
    /// (`PhoneGlass`).
    package mutating func move(to place: AppPresence, at now: WallInstant) -> [PhoneEffect] {
        var effects = advance(to: now)
        let isOverlay = place == .covered || place == .inactive
        guard !isLocked, place != presence, !isOverlay || presence == .active else {
            return effects
        }
        presence = place
        use(at: now, &effects)
        let isTakenForCenter = place == .inactive && glass.isArmed(at: now)
        effects.append(.moved(isTakenForCenter ? .covered : place))
        guard place == .active else { return effects }
        isTerminated = false
        trouble.kinds.remove(.startTokenSilent)
        removeOverlays(at: now, &effects)
        return effects + readStartTokens()
    }

    /// A pull at the edge of the Control Center. Where the status bar is hidden, the first one only
    /// shows the handle.
    package mutating func pullControlCenter(at now: WallInstant) -> [PhoneEffect] {
        let effects = touch(at: now)
        guard !isLocked, presence == .active, glass.pull(at: now) else { return effects }
        return effects + move(to: .covered, at: now)
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

    /// A finger on the glass: the phone is in use. With a place, the app in front learns of it.
    package mutating func touch(
        _ point: PhoneGlass.Point? = nil, at now: WallInstant
    ) -> [PhoneEffect] {
        var effects = advance(to: now)
        guard !isLocked else { return effects }
        use(at: now, &effects)
        if let point, presence == .active { glass.touch(point, at: now) }
        return effects
    }

    /// The app shows or hides the status bar.
    package mutating func setStatusBar(hidden: Bool) { glass.isStatusBarHidden = hidden }

    /// The phone is switched off and on: it is locked, and no app is in front. Cards, tokens and
    /// budgets stay.
    package mutating func restart(at now: WallInstant) -> [PhoneEffect] {
        setLocked(true, at: now)
    }
}
