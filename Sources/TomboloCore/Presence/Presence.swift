/// Whether an app is in front on one device. Frames of clips and presence bindings depend on it.
///
/// A report is a lease: an app in front, or covered, counts as left after 90 s without a report.
/// Before the first report, an app is in the background. Times are monotonic parameters.
package struct Presence: Hashable, Sendable {
    /// How long an app counts as in front without a report; its phone may be off.
    package static let lease = Span.seconds(90)
    /// How long an app that became inactive without a known cause counts as in front.
    package static let grace = Span.milliseconds(300)

    /// What a report changes.
    package enum Transition: String, Named, Sendable {
        case none
        /// The Control Center covers the app: frames and bound values stay as they are.
        case covered
        /// The user leaves the app: frames begin, after the newest state, and bound values become
        /// inactive.
        case leaving
        /// The app comes to the front: frames stop at once, and bound values become active. Or
        /// nothing covers the app any more.
        case returning
    }

    /// Where the app is, by the reports.
    package enum State: Hashable, Sendable {
        case active
        case covered
        /// The app was in the background and is inactive: it is coming to the front.
        case returning
        /// The user leaves the app. After the grace period it is not in front any more.
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

    /// What the relay answers to a report.
    package struct Verdict: Hashable, Sendable {
        package var state: State
        package var transition: Transition

        /// Makes the answer from both.
        package init(_ state: State, _ transition: Transition) {
            (self.state, self.transition) = (state, transition)
        }
    }

    package private(set) var state = State.background
    /// When the last report came. The lease begins then, not at the device's own time, because a
    /// phone whose clock is behind would never count as in front. A late report delays frames by at
    /// most one lease.
    package private(set) var heardAt = Instant.distantPast
    /// The device's time of the last report that counted.
    private(set) var observedAt = Instant.distantPast

    package init() {}

    init(_ state: State, heardAt: Instant, observedAt: Instant) {
        (self.state, self.heardAt, self.observedAt) = (state, heardAt, observedAt)
    }

    /// True if the state ends with its lease: the app is in front, covered, or coming to the front.
    package var isLease: Bool {
        switch state {
        case .active, .covered, .returning: true
        case .leaving, .background: false
        }
    }

    /// True if the app is in front, so that nobody would see frames on its card.
    package func isInFront(at now: Instant) -> Bool {
        switch state {
        case .active, .covered, .returning: now < heardAt + Self.lease
        case .leaving(let since): now < since + Self.grace
        case .background: false
        }
    }

    /// When the app stops being in front if no report comes; nil if it is not in front.
    package func changesAt(now: Instant) -> Instant? {
        guard isInFront(at: now) else { return nil }
        if case .leaving(let since) = state { return since + Self.grace }
        return heardAt + Self.lease
    }

    /// Applies one report.
    ///
    /// - Parameters:
    ///   - observed: the device's time; nil, or a time in the future, counts as now.
    ///   - wall: the wall time now.
    /// - Returns: what the report changes; nil if it is older than the last one.
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

    /// Puts an app whose lease is over into the background. (A grace period ends by its time
    /// alone.)
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
        // The app was in front all the time, so nothing is pushed; only the history notes this.
        case (.covered, .active): (.active, .returning)
        case (.leaving(let since), .active):
            // The app is back within the grace period, so it was never left.
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
            // The report says nothing new; a grace period continues.
            (now < since + Self.grace ? state : .background, .none)
        case (.background, .background): (.background, .none)
        }
    }
}
