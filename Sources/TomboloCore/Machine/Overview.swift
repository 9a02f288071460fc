/// The operator's overview: the destinations with a trouble, by its kind, and those that are
/// furthest behind.
package struct Overview: Sendable {
    /// The kinds of trouble at a destination of a running activity.
    package enum Trouble: String, Hashable, Sendable, CaseIterable {
        /// Apple accepted the newest push, but the phone reports another state.
        case notShown = "not_shown"
        /// The phone has a newer state than it draws, and its drawing does not change.
        case frozen
        /// It is unknown whether the start has reached the phone.
        case startUnknown = "start_unknown"
        /// Apple has refused the token, and the app has not registered another one.
        case tokenRefused = "token_refused"
        /// The destination has no token for pushes.
        case noToken = "no_token"
        /// The budget is spent, or a card is behind because the rest of it is reserved for alerts.
        case budgetSpent = "budget_spent"
        /// Apple has accepted pushes for an hour, and the phone has reported nothing.
        case silent
        /// The user has dismissed the card.
        case dismissed
        /// The system ended the card after its 8 hours, and the activity continues.
        case lapsed
    }

    /// How many destinations have a trouble, and the first of them.
    package struct Group: Hashable, Sendable {
        /// A card that has the trouble.
        package struct Member: Hashable, Sendable {
            package var activity: Identifier
            package var device: Identifier
        }

        package var trouble: Trouble
        package var count: Int
        /// At least one, at most `membersMax`.
        package var members: [Member]
        package static let membersMax = 10
    }

    /// A destination that lacks the newest version.
    package struct Behind: Hashable, Sendable {
        package var activity: Identifier
        package var device: Identifier
        package var versions: Int64
        package var budgetClass: BudgetClass
        /// Why the newest version waits; nil if its push is about to be sent.
        package var waiting: Decision?
        /// Why the app's upstream is closed; nil if it is open.
        package var trouble: String?
    }

    /// An activity whose producer says nothing.
    package struct Silent: Hashable, Sendable {
        package var activity: Identifier
        package var since: Instant
    }

    /// In the order of `Trouble.allCases`, without groups that have no destination.
    package var troubles: [Group] = []
    /// The slowest come first: those whose wait has no known end, then those that end last.
    package var slowest: [Behind] = []
    /// The cards, and the channels, of running activities that are not over.
    package var cards = StandingCounts()
    /// Number of running activities that no device can show.
    package var unreached = 0
    package var unreachedExample: Identifier?
    /// Number of running activities whose producer has said nothing for `stale_after`.
    package var stale = 0
    /// The one whose producer has been silent for the longest time, and since when.
    package var stalest: Silent?
    /// Number of activities whose stored state cannot be read.
    package var damaged = 0

    package init() {}

    /// By this time, even a locked phone should have drawn a state.
    package static let drawingMax = Span.minutes(1)
    /// A phone that reports nothing for this long, while Apple accepts pushes, is a trouble.
    package static let silenceMax = Span.hours(1)
    /// The same for a phone whose app has reported before.
    package static let silenceOfReportingMax = Span.minutes(5)
    package static let slowestMax = 10

    mutating func add(_ trouble: Trouble, _ activity: Identifier, _ device: Identifier) {
        if let index = troubles.firstIndex(where: { $0.trouble == trouble }) {
            troubles[index].count += 1
            guard troubles[index].members.count < Group.membersMax else { return }
            troubles[index].members.append(.init(activity: activity, device: device))
        } else {
            let first = Group.Member(activity: activity, device: device)
            troubles.append(Group(trouble: trouble, count: 1, members: [first]))
        }
    }

    mutating func add(_ behind: Behind) {
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

/// What is known of the newest version at a card of a running activity.
package enum CardStanding: String, Hashable, Sendable, CaseIterable {
    /// The phone has reported it.
    case shown
    /// Apple has taken it, and the phone reports an older one.
    case older
    /// Apple has taken it, and the phone has not spoken of it.
    case silent
    /// Apple has taken it for a channel: who listens is unknown.
    case byChannel = "by_channel"
    /// It has not gone yet.
    case behind
    /// Apple has refused the push of it.
    case refused
    /// Apple has refused the card's token, so nothing goes. The phone may show the card.
    case unreachable

    /// True if Apple has taken the version.
    package var isAccepted: Bool {
        [.shown, .older, .silent, .byChannel].contains(self)
    }
}

/// How many cards have each standing.
package struct StandingCounts: Hashable, Sendable {
    private var counts: [CardStanding: Int] = [:]

    package init() {}

    package subscript(standing: CardStanding) -> Int {
        get { counts[standing] ?? 0 }
        set { counts[standing] = newValue }
    }

    package var running: Int { counts.values.reduce(0, +) }
    package var accepted: Int {
        counts.reduce(0) { $0 + ($1.key.isAccepted ? $1.value : 0) }
    }
}

extension Destination {
    /// What is known of the newest version at a card of a running activity; nil if it is over.
    ///
    /// - Parameters:
    ///   - device: the card's, or its channel.
    ///   - report: the phone's newest word about the card.
    func standing(
        of version: Int64, _ device: Device, _ report: PhoneReport?, isUnreachable: Bool
    ) -> CardStanding? {
        if isUnreachable { return .unreachable }
        guard !isFinished else { return nil }
        guard acknowledged >= version else { return .behind }
        if let last = lastDelivery, last.version >= version, let result = last.result,
            result != .accepted
        {
            return .refused
        }
        guard device.channel == nil else { return .byChannel }
        if report?.missesPush == true { return .older }
        return report?.received.map { $0 >= version } ?? false ? .shown : .silent
    }

    /// True if a version waits because of priority 5, or if it was sent so and the phone reports, a
    /// minute later or more, that it lacks the version or has not drawn it.
    func isBehind(_ version: Int64, _ report: PhoneReport?, wall: Instant) -> Bool {
        if case .deferred(_, let reason)? = waiting, acknowledged < version {
            return reason == .lowPrioritySpacing || reason == .deviceLowPrioritySpacing
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

/// The waiting changes of a tenant by wait reason: number of destinations, and age of the oldest.
package struct WaitingChanges: Hashable, Sendable {
    private struct OfReason: Hashable {
        var count: Int64 = 0
        var since = Instant.distantFuture
    }

    private var reasons: [WaitReason: OfReason] = [:]

    package init() {}

    /// Number of destinations.
    package func count(of reason: WaitReason) -> Int64 { reasons[reason]?.count ?? 0 }

    /// Age of the oldest change that waits for this reason now, including its time under earlier
    /// reasons; zero if none waits.
    package func age(of reason: WaitReason, now: Instant) -> Span {
        max(.zero, now - min(now, reasons[reason]?.since ?? now))
    }

    mutating func add(_ delay: Delay) {
        var known = reasons[delay.reason] ?? OfReason()
        known.count += 1
        known.since = min(known.since, delay.since)
        reasons[delay.reason] = known
    }
}
