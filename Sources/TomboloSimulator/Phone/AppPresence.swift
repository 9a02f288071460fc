/// State of the phone's app, as its user sees it.
package enum AppPresence: String, Hashable, Sendable {
    case active, background
    /// In front, covered by the Control Center.
    case covered
    /// In the app switcher: the app has resigned active, but is not in the background yet.
    case inactive

    /// Value of the report in the relay's API.
    var phase: String { self == .covered ? AppPresence.inactive.rawValue : rawValue }
    var cause: String? { self == .covered ? "control_center" : nil }
}

extension Phone {
    /// The user opens the app, leaves it, pulls the Control Center over it, or opens the app
    /// switcher. A locked phone ignores all of this. Control Center and switcher need an
    /// app in front; `active` returns to it.
    ///
    /// The app learns only that it resigns active. It guesses the cause from earlier touches
    /// (`PhoneGlass`) and reports its guess.
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

    /// A pull at the edge of the Control Center. If the status bar is hidden, the first pull only
    /// shows the handle.
    package mutating func pullControlCenter(at now: WallInstant) -> [PhoneEffect] {
        let effects = touch(at: now)
        guard !isLocked, presence == .active, glass.pull(at: now) else { return effects }
        return effects + move(to: .covered, at: now)
    }

    /// The side button locks or unlocks the phone; locking sends the app to the background.
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

    /// A touch of the screen: the phone is in use. With a `point`, the app in front sees it.
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

    /// Switches the phone off and on: it is locked, and no app is in front. Cards, tokens and
    /// budgets stay.
    package mutating func restart(at now: WallInstant) -> [PhoneEffect] {
        setLocked(true, at: now)
    }
}
