/// Whether an app is in front on one device, by one table of transitions for frames and for window
/// corners alike.
///
/// A report is a lease: an app that is in front, or covered, counts as gone after 90 s unless it
/// reports again. Without any report an app is in the background. Pure: takes monotonic time.
package struct Presence: Hashable, Sendable {
    /// How long an app counts as in front without a report, in case the phone has died.
    package static let lease = Span.seconds(90)
    /// An app that becomes inactive without a cause may come back at once.
    package static let grace = Span.milliseconds(300)

    /// The effect of a report.
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
        /// The app was in the background and is inactive: on its way to the front.
        case returning
        /// The app is being left; after the grace it is gone.
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

    /// The result of a report: the answer to its phone.
    package struct Verdict: Hashable, Sendable {
        /// Where the app is now.
        package var state: State
        /// The effect of the report.
        package var transition: Transition

        /// The app's state, and the transition to it.
        package init(_ state: State, _ transition: Transition) {
            (self.state, self.transition) = (state, transition)
        }
    }

    package private(set) var state = State.background
    /// When the last report came. The lease counts from then, and not from the device's own time,
    /// because a phone whose clock is behind by more than a lease would never be in front. A late
    /// report delays frames by one lease at most.
    package private(set) var heardAt = Instant.distantPast
    /// The device's time of the last report that counted.
    private(set) var observedAt = Instant.distantPast

    package init() {}

    init(_ state: State, heardAt: Instant, observedAt: Instant) {
        (self.state, self.heardAt, self.observedAt) = (state, heardAt, observedAt)
    }

    /// Whether the state counts only until its lease ends: the app is in front or covered.
    package var isLease: Bool {
        switch state {
        case .active, .covered, .returning: true
        case .leaving, .background: false
        }
    }

    /// Whether the app is in front, so that its animation would not be seen.
    package func isInFront(at now: Instant) -> Bool {
        switch state {
        case .active, .covered, .returning: now < heardAt + Self.lease
        case .leaving(let since): now < since + Self.grace
        case .background: false
        }
    }

    /// When it stops being in front if no report comes; nil if it is not in front.
    package func changesAt(now: Instant) -> Instant? {
        guard isInFront(at: now) else { return nil }
        if case .leaving(let since) = state { return since + Self.grace }
        return heardAt + Self.lease
    }

    /// Follows one report.
    ///
    /// - Parameters:
    ///   - observed: the device's time; a time ahead of the clock counts as now.
    ///   - wall: the clock that `observed` is compared with.
    ///   - Returns: the effect of the report; nil if it is older than the last.
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

    /// An app whose lease ran out is in the background, and so is one whose grace ran out.
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
        // The app was in front all the time: nothing is sent; the live stream has the cover's end.
        case (.covered, .active): (.active, .returning)
        case (.leaving(let since), .active):
            // The app is back within the grace: it was never gone.
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
            // Nothing new; the running grace goes on.
            (now < since + Self.grace ? state : .background, .none)
        case (.background, .background): (.background, .none)
        }
    }
}
