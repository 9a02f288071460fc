/// The operator's overview: destinations with troubles, by the kind of trouble, and those that are
/// furthest behind.
package struct Overview: Sendable {
    /// The kinds of trouble at a destination of a running activity.
    package enum Trouble: String, Hashable, Sendable, CaseIterable {
        /// Apple accepted the newest push, but the phone reports another state.
        case notShown = "not_shown"
        /// The phone has a newer state than it draws, and its drawing does not change.
        case frozen
        /// Unknown whether the start reached the phone.
        case startUnknown = "start_unknown"
        /// Apple refused the token, and the app has not registered another.
        case tokenRefused = "token_refused"
        /// There is no token for pushes.
        case noToken = "no_token"
        /// The grant is spent, or its rest is reserved for alerts and a card is behind.
        case budgetSpent = "budget_spent"
        /// Apple has accepted pushes for an hour without any report from the phone.
        case silent
        /// The user has swiped the card away.
        case dismissed
        /// The system ended the card after its 8 hours, and the activity continues.
        case lapsed
    }

    /// The number of destinations with a trouble, and an example.
    package struct Group: Hashable, Sendable {
        package var trouble: Trouble
        package var count: Int
        package var activity: Identifier
        package var device: Identifier
    }

    /// A destination without the newest version.
    package struct Behind: Hashable, Sendable {
        package var activity: Identifier
        package var device: Identifier
        /// Number of versions that it lacks.
        package var versions: Int64
        package var budgetClass: BudgetClass
        /// Why the newest version waits; nil if its push is about to be sent.
        package var waiting: Decision?
    }

    /// In the order of `Trouble.allCases`, without empty groups.
    package var troubles: [Group] = []
    /// The slowest first: those without a known end of their wait, then by that end.
    package var slowest: [Behind] = []
    /// Number of destinations of running activities that are behind.
    package var behindCount = 0
    /// Number of running activities without a working destination.
    package var unreached = 0
    package var unreachedExample: Identifier?
    /// Number of activities whose rows cannot be read.
    package var damaged = 0

    package init() {}

    /// Time after which a phone, even a locked one, should have drawn its state.
    package static let drawingMax = Span.minutes(1)
    /// Time of accepted pushes after which a phone's silence is a trouble.
    package static let silenceMax = Span.hours(1)
    /// Most entries in `slowest`.
    package static let slowestMax = 10

    mutating func add(_ trouble: Trouble, _ activity: Identifier, _ device: Identifier) {
        if let index = troubles.firstIndex(where: { $0.trouble == trouble }) {
            troubles[index].count += 1
        } else {
            troubles.append(
                Group(trouble: trouble, count: 1, activity: activity, device: device))
        }
    }

    mutating func add(_ behind: Behind) {
        behindCount += 1
        slowest.append(behind)
        guard slowest.count > 2 * Self.slowestMax else { return }
        cut()
    }

    mutating func cut() {
        slowest.sort { one, other in
            (one.until, one.versions, other.activity) > (other.until, other.versions, one.activity)
        }
        slowest.removeLast(max(0, slowest.count - Self.slowestMax))
    }

    mutating func sort() {
        cut()
        let order = Trouble.allCases
        troubles.sort { one, other in
            (order.firstIndex(of: one.trouble) ?? 0) < (order.firstIndex(of: other.trouble) ?? 0)
        }
    }
}

extension Destination {
    /// True if a version is held at priority 5, or was sent so and the phone reports a minute later
    /// that it lacks the version or its drawing.
    func isBehind(_ version: Int64, _ report: PhoneReport?, wall: Instant) -> Bool {
        if case .deferred(_, let hold)? = waiting, acknowledged < version {
            return hold == .lowPrioritySpacing || hold == .deviceLowPrioritySpacing
        }
        guard let report, let since = pacing.unsettledSince,
            since + Overview.drawingMax <= wall
        else { return false }
        return report.missesPush || (report.drawn ?? report.received).map { $0 < version } ?? false
    }
}

extension Overview.Behind {
    fileprivate var until: Instant {
        guard case .deferred(let until, _) = waiting else { return .distantPast }
        return until ?? .distantFuture
    }
}

/// Waiting changes by wait reason: the number of destinations, and the age of the oldest change.
package struct WaitingChanges: Hashable, Sendable {
    /// One element for each case of `Hold`.
    private var counts = [Int64](repeating: 0, count: Hold.allCases.count)
    private var since = [Instant](repeating: .distantFuture, count: Hold.allCases.count)

    package init() {}

    /// Number of destinations.
    package func count(of hold: Hold) -> Int64 { counts[Int(hold.rawValue)] }

    /// Age of the oldest waiting change, including earlier wait reasons; zero if none waits.
    package func age(of hold: Hold, now: Instant) -> Span {
        max(.zero, now - min(now, since[Int(hold.rawValue)]))
    }

    mutating func add(_ delay: Delay) {
        let place = Int(delay.hold.rawValue)
        counts[place] += 1
        since[place] = min(since[place], delay.since)
    }
}
