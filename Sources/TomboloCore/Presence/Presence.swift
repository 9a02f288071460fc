/// Where an app is on one device: one table of transitions, for frames and for window corners
/// alike.
///
/// It is a lease: whoever is in front, or covered, counts as gone after 90 s unless it says so
/// again; without any report an app is in the background. Pure; steady time comes in.
package struct Presence: Hashable, Sendable {
    /// A phone that has died says nothing more: in front for this long without a word.
    package static let lease = Span.seconds(90)
    /// An app that goes inactive without a cause may come back at once.
    package static let grace = Span.milliseconds(300)

    /// What a report comes to.
    package enum Transition: UInt8, Hashable, Sendable {
        case none
        /// The Control Center lies over the app: frames stay as they are, corners stay 8.
        case covered
        /// The app is left: frames start, the newest state goes first, corners go from 8 to 0.
        case leaving
        /// The app comes to the front: frames stop at once, corners go to 8. Or what covered it is
        /// gone.
        case returning

        package var name: String {
            switch self {
            case .none: "none"
            case .covered: "covered"
            case .leaving: "leaving"
            case .returning: "returning"
            }
        }
    }

    /// Where the app is.
    package enum State: Hashable, Sendable {
        case active
        case covered
        /// Was in the background and is inactive: on its way to the front.
        case returning
        /// Is going; from then on it is gone.
        case leaving(since: Instant)
        case background

        package var name: String {
            switch self {
            case .active: "active"
            case .covered: "covered"
            case .returning: "returning"
            case .leaving: "leaving"
            case .background: "background"
            }
        }
    }

    /// What a report came to: the answer to its phone.
    package struct Verdict: Hashable, Sendable {
        /// Where the app is now.
        package var state: State
        /// What the report was.
        package var transition: Transition

        /// Where the app is, and how it came there.
        package init(_ state: State, _ transition: Transition) {
            (self.state, self.transition) = (state, transition)
        }
    }

    package private(set) var state = State.background
    /// When the last report came. The lease counts from there, and not from the device's own time:
    /// the phone of a clock that is behind by more than a lease would never be in front. A report
    /// that comes late holds frames back for one lease at most.
    package private(set) var heardAt = Instant.distantPast
    /// The device's time of the last report that counted.
    private(set) var observedAt = Instant.distantPast

    package init() {}

    init(_ state: State, heardAt: Instant, observedAt: Instant) {
        (self.state, self.heardAt, self.observedAt) = (state, heardAt, observedAt)
    }

    /// Whether it says that the app is in front, or covered, for as long as its lease runs.
    package var isLease: Bool {
        switch state {
        case .active, .covered, .returning: true
        case .leaving, .background: false
        }
    }

    /// Whether the app stands in front of what would be animated.
    package func isInFront(at now: Instant) -> Bool {
        switch state {
        case .active, .covered, .returning: now < heardAt + Self.lease
        case .leaving(let since): now < since + Self.grace
        case .background: false
        }
    }

    /// When it stops being in front, if nothing is said; nil where it is not.
    package func changesAt(now: Instant) -> Instant? {
        guard isInFront(at: now) else { return nil }
        if case .leaving(let since) = state { return since + Self.grace }
        return heardAt + Self.lease
    }

    /// Follows one report.
    ///
    /// - Parameters:
    ///   - observed: the device's time; one ahead of the clock counts as its arrival.
    ///   - wall: the clock that `observed` is compared with.
    /// - Returns: what it comes to; nil for a report older than the last.
    package mutating func follow(
        _ phase: PresenceReport.Phase, cause: PresenceReport.Cause?, observed: Instant?,
        now: Instant, wall: Instant
    ) -> Transition? {
        let observed = min(observed ?? wall, wall)
        guard observed >= observedAt else { return nil }
        observedAt = observed
        lapse(now: now)
        heardAt = now
        let (next, transition) = step(phase, cause, now: now)
        state = next
        return transition
    }

    /// A lease that ran out is background, and so is what has been left.
    package mutating func lapse(now: Instant) {
        switch state {
        case .active, .covered, .returning:
            if now >= heardAt + Self.lease { state = .background }
        case .leaving, .background: break
        }
    }

    private func step(
        _ phase: PresenceReport.Phase, _ cause: PresenceReport.Cause?, now: Instant
    ) -> (State, Transition) {
        switch (state, phase) {
        case (.active, .active), (.returning, .active): (.active, .none)
        // It was in front all the time: nothing is sent, and the tail has the cover's end.
        case (.covered, .active): (.active, .returning)
        case (.leaving(let since), .active):
            // Back within the grace: it was never gone.
            (.active, now < since + Self.grace ? .none : .returning)
        case (.background, .active): (.active, .returning)
        case (.active, .inactive):
            cause == .controlCenter ? (.covered, .covered) : (.leaving(since: now), .leaving)
        case (.background, .inactive): (.returning, .returning)
        case (.covered, .inactive), (.returning, .inactive), (.leaving, .inactive):
            (state, .none)
        case (.active, .background), (.covered, .background), (.returning, .background):
            (.background, .leaving)
        case (.leaving(let since), .background):
            // Nothing new; the grace that began runs out.
            (now < since + Self.grace ? state : .background, .none)
        case (.background, .background): (.background, .none)
        }
    }
}
