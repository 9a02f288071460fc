/// State of the phone's app, as its user sees it.
package enum AppPresence: String, Hashable, Sendable {
    case active, background
    /// In the foreground, but covered by the Control Center.
    case covered
    /// In the app switcher: the app has resigned active, but is not in the background yet.
    case inactive
}

extension Phone {
    /// The user opens the app, leaves it, pulls the Control Center over it, or opens the app
    /// switcher. A locked phone ignores all of this. Control Center and switcher need an app in the
    /// foreground, and `active` returns to it.
    ///
    /// The app learns only that it resigns active. It guesses the cause from earlier touches.
    package mutating func move(to place: AppPresence, at now: WallInstant) -> [PhoneEffect] {
        var effects = advance(to: now)
        let isOverlay = place == .covered || place == .inactive
        guard !isLocked, place != presence, !isOverlay || presence == .active else {
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

    /// A pull at the edge of the Control Center. If the status bar is hidden, the first pull only
    /// shows the handle.
    package mutating func pullControlCenter(at now: WallInstant) -> [PhoneEffect] {
        var effects = touch(at: now)
        guard !isLocked, presence == .active else { return effects }
        effects.append(.touched(glass.edgePoint))
        return glass.pull(at: now) ? effects + move(to: .covered, at: now) : effects
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

    /// A touch: the phone is in use. With a `point`, the app in the foreground sees it.
    package mutating func touch(
        _ point: PhoneGlass.Point? = nil, at now: WallInstant
    ) -> [PhoneEffect] {
        var effects = advance(to: now)
        guard !isLocked else { return effects }
        use(at: now, &effects)
        guard let point, presence == .active else { return effects }
        glass.touch(point, at: now)
        return effects + [.touched(point)]
    }

    /// The app shows or hides the status bar.
    package mutating func setStatusBar(hidden: Bool) -> [PhoneEffect] {
        glass.isStatusBarHidden = hidden
        return [.statusBar(hidden: hidden)]
    }

    /// The phone is switched off and on. Then it is locked, and no app is in the foreground. Cards,
    /// tokens and budgets are kept.
    package mutating func restart(at now: WallInstant) -> [PhoneEffect] {
        setLocked(true, at: now)
    }
}
