/// The decisions about all events at one destination: each event gets exactly one.
///
/// Versions are decided in order, so two numbers tell which still wait. The decisions are counted
/// here; the history has each of them (`DeliveryRecord`).
package struct Ledger: Hashable, Sendable {
    /// The first version that this destination should show.
    package let since: Int64
    private var narrow = Counts()

    /// - Parameter since: the version at which the destination was added to its activity.
    package init(since: Int64) {
        self.since = since
    }

    /// All versions up to this one are decided.
    package var decidedThrough: Int64 { since - 1 + narrow.decided }

    /// Restores the ledger from the numbers in a checkpoint. Returns nil if the sum is wrong.
    init?(parts: [Int64]) {
        // Older relays had fewer kinds of decisions.
        guard (10...13).contains(parts.count) else { return nil }
        since = parts[0]
        let counts = EventCounts(
            sent: parts[2], merged: parts[3], unchanged: parts[4], superseded: parts[5],
            annihilated: parts[6], noRoute: parts[7], expired: parts[8], refused: parts[9],
            onChannel: parts.count > 10 ? parts[10] : 0,
            notVisible: parts.count > 11 ? parts[11] : 0,
            startWait: parts.count > 12 ? parts[12] : 0)
        guard counts.decided == parts[1] - since + 1 else { return nil }
        narrow = Counts(counts)
    }

    package var counts: EventCounts { narrow.wide }

    /// The numbers for a checkpoint.
    var parts: [Int64] {
        let counts = counts
        return [
            since, decidedThrough, counts.sent, counts.merged, counts.unchanged,
            counts.superseded, counts.annihilated, counts.noRoute, counts.expired, counts.refused,
            counts.onChannel, counts.notVisible, counts.startWait,
        ]
    }

    /// Number of events that wait for their decision if the activity is at `version`.
    package func waiting(at version: Int64) -> Int64 { max(0, version - decidedThrough) }

    /// Decides all versions up to `version`. The newest one gets `decision`. Those before it become
    /// `merged`, or the same if it is for all, or `superseded` if a newer `state_version` was
    /// known.
    ///
    /// - Returns: the versions decided now; nil if all were decided before.
    mutating func decide(
        through version: Int64, _ decision: EventDecision, superseded: [Int64]
    ) -> ClosedRange<Int64>? {
        guard version > decidedThrough else { return nil }
        let range = decidedThrough + 1...version
        let passed =
            superseded.isEmpty
            ? 0 : Int64(superseded.count { range.contains($0) && $0 != version })
        let isPassed = !superseded.isEmpty && superseded.contains(version)
        var counts = counts
        defer { narrow = Counts(counts) }
        counts.superseded += passed
        if decision.isForAll {
            counts.add(Int64(range.count) - 1 - passed, decision)
            counts.add(1, isPassed ? .superseded : decision)
        } else {
            counts.merged += Int64(range.count) - 1 - passed
            counts.add(1, isPassed && decision.needsNoPush ? .superseded : decision)
        }
        return range
    }
}

extension Ledger {
    /// `EventCounts` in a third of the memory, because each destination has one. Within the 8 hours
    /// of a card there are less than 2³² events, and most have one of the usual decisions.
    private struct Counts: Hashable, Sendable {
        private var sent: UInt32 = 0
        private var merged: UInt32 = 0
        private var unchanged: UInt32 = 0
        /// Events with other decisions; nil if there are no such events.
        @Seldom private var others: EventCounts?

        init() {}

        init(_ counts: EventCounts) {
            sent = UInt32(clamping: counts.sent)
            merged = UInt32(clamping: counts.merged)
            unchanged = UInt32(clamping: counts.unchanged)
            var rest = counts
            (rest.sent, rest.merged, rest.unchanged) = (0, 0, 0)
            others = rest.decided == 0 ? nil : rest
        }

        var decided: Int64 {
            Int64(sent) + Int64(merged) + Int64(unchanged)
                + (_others.isThere ? _others.value.decided : 0)
        }

        var wide: EventCounts {
            var counts = others ?? EventCounts()
            counts.sent = Int64(sent)
            counts.merged = Int64(merged)
            counts.unchanged = Int64(unchanged)
            return counts
        }
    }
}

/// The final decisions about an event.
package enum EventDecision: UInt8, Hashable, Sendable, CaseIterable {
    case sent, merged, unchanged, superseded, annihilated, noRoute, expired, refused
    /// The card listens on a channel, which has a destination of its own.
    case onChannel
    /// The phone would show no difference (pacing rule 17).
    case notVisible
    /// The start has waited longer than `start_wait`, so no card begins (pacing rule 5).
    case startWait

    /// True if all waiting events get this decision, not only the newest.
    var isForAll: Bool {
        switch self {
        case .annihilated, .noRoute, .expired, .onChannel, .startWait: true
        case .sent, .merged, .unchanged, .superseded, .refused, .notVisible: false
        }
    }

    /// True if later events get the same decision as long as the destination does not change.
    var mayGoOn: Bool { self == .noRoute || self == .onChannel || self == .startWait }

    /// True if no push is needed, because the phone shows the same already.
    var needsNoPush: Bool { self == .unchanged || self == .notVisible }

    /// The API's word for the action: `skipped` for all decisions with a reason, else their name.
    package var action: String {
        switch self {
        case .sent: "sent"
        case .merged: "merged"
        case .expired: "expired"
        case .refused: "refused"
        case .unchanged, .superseded, .annihilated, .noRoute, .onChannel, .notVisible, .startWait:
            "skipped"
        }
    }

    /// The reason if there is one, else the action. The history stores this word.
    package var word: String { reason ?? action }

    /// Finds the decision with this `word`. Returns nil for other words.
    package init?(word: String) {
        guard let found = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = found
    }

    /// Why the event was skipped; nil if it was not skipped.
    package var reason: String? {
        switch self {
        case .unchanged: "unchanged"
        case .superseded: "superseded"
        case .annihilated: "annihilated"
        case .noRoute: "no_route"
        case .onChannel: "on_channel"
        case .notVisible: "not_visible"
        case .startWait: "start_wait"
        case .sent, .merged, .expired, .refused: nil
        }
    }
}

/// Numbers of events at one destination by decision. `decided` is the sum of all others.
package struct EventCounts: Hashable, Sendable {
    package var sent: Int64 = 0
    package var merged: Int64 = 0
    package var unchanged: Int64 = 0
    package var superseded: Int64 = 0
    package var annihilated: Int64 = 0
    package var noRoute: Int64 = 0
    package var expired: Int64 = 0
    package var refused: Int64 = 0
    package var onChannel: Int64 = 0
    package var notVisible: Int64 = 0
    package var startWait: Int64 = 0

    package var skipped: Int64 {
        unchanged + superseded + annihilated + noRoute + onChannel + notVisible + startWait
    }
    package var decided: Int64 { sent + merged + skipped + expired + refused }

    /// The number of events with this decision.
    package func count(of decision: EventDecision) -> Int64 {
        switch decision {
        case .sent: sent
        case .merged: merged
        case .unchanged: unchanged
        case .superseded: superseded
        case .annihilated: annihilated
        case .noRoute: noRoute
        case .expired: expired
        case .refused: refused
        case .onChannel: onChannel
        case .notVisible: notVisible
        case .startWait: startWait
        }
    }

    mutating func add(_ count: Int64, _ decision: EventDecision) {
        switch decision {
        case .sent: sent += count
        case .merged: merged += count
        case .unchanged: unchanged += count
        case .superseded: superseded += count
        case .annihilated: annihilated += count
        case .noRoute: noRoute += count
        case .expired: expired += count
        case .refused: refused += count
        case .onChannel: onChannel += count
        case .notVisible: notVisible += count
        case .startWait: startWait += count
        }
    }
}
