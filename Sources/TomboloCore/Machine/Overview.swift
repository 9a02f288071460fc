/// What an operator looks at first: destinations that do not show what they should, by what is
/// wrong with them, and those that are furthest behind.
package struct Overview: Sendable {
    /// What can be wrong with the destination of a running activity.
    package enum Trouble: String, Hashable, Sendable, CaseIterable {
        /// Apple took the newest push, and the phone says that it shows something else.
        case notShown = "not_shown"
        /// The phone has a newer state than it draws, and its picture does not change.
        case frozen
        /// Nobody knows whether the start reached the phone.
        case startUnknown = "start_unknown"
        /// Apple refused the token, and the app has registered no other.
        case tokenRefused = "token_refused"
        /// There is no token to push to.
        case noToken = "no_token"
        /// The grant is spent, or what is left of it is kept for alerts and a card is behind.
        case budgetSpent = "budget_spent"
        /// Apple has taken pushes for an hour, and the phone has said nothing meanwhile.
        case silent
        /// The user has swiped the card away.
        case dismissed
        /// The system ended the card after its 8 hours, and the activity goes on.
        case lapsed
    }

    /// How many destinations have a trouble, and one of them.
    package struct Group: Hashable, Sendable {
        package var trouble: Trouble
        package var count: Int
        package var activity: Identifier
        package var device: Identifier
    }

    /// A destination that does not have the newest version yet.
    package struct Behind: Hashable, Sendable {
        package var activity: Identifier
        package var device: Identifier
        /// Versions that it does not have.
        package var versions: Int64
        package var budgetClass: BudgetClass
        /// What holds the newest one; nil where its push is about to go.
        package var waiting: Decision?
    }

    /// In the order of `Trouble.allCases`; none that is nobody's.
    package var troubles: [Group] = []
    /// The slowest first: those that nothing will wake, then by the time until which they wait.
    package var slowest: [Behind] = []
    /// Destinations of running activities that are behind.
    package var behindCount = 0
    /// Running activities that reach nobody now.
    package var unreached = 0
    package var unreachedExample: Identifier?
    /// Activities whose rows cannot be read.
    package var damaged = 0

    package init() {}

    /// A phone draws what it has within so long, a locked one too.
    package static let drawingMax = Span.minutes(1)
    /// Pushes go to a phone for so long before its silence is a trouble.
    package static let silenceMax = Span.hours(1)
    /// The slowest that are listed.
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
    /// Whether a version is held at priority 5, or went so and its phone says a minute later that
    /// it does not have it, or has no picture of it.
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

/// Changes that wait, by what holds them: at how many destinations, and since when the oldest does.
package struct WaitingChanges: Hashable, Sendable {
    /// One for each case of `Hold`.
    private var counts = [Int64](repeating: 0, count: Hold.allCases.count)
    private var since = [Instant](repeating: .distantFuture, count: Hold.allCases.count)

    package init() {}

    /// At how many destinations.
    package func count(of hold: Hold) -> Int64 { counts[Int(hold.rawValue)] }

    /// How long the oldest has waited, whatever held it before; zero where nothing waits.
    package func age(of hold: Hold, now: Instant) -> Span {
        max(.zero, now - min(now, since[Int(hold.rawValue)]))
    }

    mutating func add(_ delay: Delay) {
        let place = Int(delay.hold.rawValue)
        counts[place] += 1
        since[place] = min(since[place], delay.since)
    }
}
