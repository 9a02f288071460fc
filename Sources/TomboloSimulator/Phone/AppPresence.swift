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
        let effects = advance(to: now)
        guard !isLocked, place != presence, place != .covered || presence == .active else {
            return effects
        }
        presence = place
        if place == .active { isTerminated = false }
        return effects + [.moved(place)]
    }

    /// The side button: the app in front goes to the background.
    package mutating func setLocked(_ locked: Bool, at now: WallInstant) -> [PhoneEffect] {
        let effects = locked ? move(to: .background, at: now) : advance(to: now)
        isLocked = locked
        return effects
    }
}
