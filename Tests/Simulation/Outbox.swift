import TomboloCore
import TomboloLoop

/// A card as the sender sees it: one destination.
struct CardKey: Hashable {
    var phone: Int
    /// Of the app on that phone.
    var installation: Int
    var reference: ActivityReference
}

/// All that was ever sent to one destination, and what became of it.
final class Outbox {
    enum Fate {
        case open, accepted, refused
        /// The relay was told that nobody knows, or the life that sent it has ended.
        case unknown
    }

    struct Sent {
        var at: MonotonicInstant
        var life: Int
        var push: PushID
        var event: Push.Event
        var priority: UInt8
        var timestamp: Int64
        var mark: Int64
        var frame: String?
        var value: String?
        var alert: Int64?
        /// Of a bundle, which play it is of.
        var bundle: Int64?
        /// Class `lab` may hold: a second may be shared.
        var mayShare: Bool
        var isFrame: Bool
        /// Its stale date has to be moved on.
        var isStale: Bool
        var token: String
        var fate = Fate.open
        var answeredAt: MonotonicInstant?
        /// Its answer came so shortly before a crash that it may not be on record, or there was no
        /// room for it.
        var isForgotten = false

        /// A phone drops it for its time.
        var isFarAhead = false

        /// It goes to a token that is dead, by an id that the phone's app has given up: the relay
        /// cannot know that both ids are one phone's.
        var isAstray = false

        /// Whether it may have reached the phone.
        var counts: Bool { fate != .refused && !isAstray }
    }

    /// The type of its activity.
    let type: String
    var sends: [Sent] = []
    /// When the log was put back to an older state: what came before is not known any more.
    var cuts: [MonotonicInstant] = []
    /// When its device was deleted, to come back.
    var departures: [MonotonicInstant] = []
    /// The newest version that was pushed or recovered: older ones must not come any more.
    var floor: Int64 = 0
    var resendsStarts = false
    /// Its start went with the restored log's gap, or with the deleted device that it went to:
    /// another one may take its name.
    var isUnsure = false

    /// Whether an end was sent.
    var hasEnded: Bool { sends.contains { $0.event == .end } }

    init(type: String) { self.type = type }

    /// Sends since the log was last put back.
    var remembered: ArraySlice<Sent> {
        guard let cut = cuts.last else { return sends[...] }
        return sends[(sends.firstIndex { $0.at > cut } ?? sends.count)...]
    }

    /// Whether its device was deleted between a push and now: of what is under way nobody waits
    /// for the outcome any more.
    func hasDeparted(since instant: MonotonicInstant) -> Bool {
        departures.last.map { $0 >= instant } ?? false
    }

    func answered(_ push: PushID, life: Int, _ fate: Fate, at: MonotonicInstant) {
        guard let index = sends.lastIndex(where: { $0.push == push && $0.life == life }) else {
            return
        }
        sends[index].fate = fate
        sends[index].answeredAt = at
    }

    /// What is wrong with sending this now; asked before it is added.
    func faults(_ next: Sent) -> [(Promise, String)] {
        var faults: [(Promise, String)] = []
        guard !next.isAstray else { return [] }
        // A phone drops what is too far ahead of its own clock.
        if let last = sends.last(where: { $0.counts && !$0.isFarAhead }), !next.isFarAhead {
            let isShared = next.timestamp == last.timestamp
            // Of two ends either will do, whichever the phone takes; and it applies one that shows
            // nothing whatever its time.
            let isBare = next.mark == 0
            if next.timestamp < last.timestamp
                && !(next.event == .end && (last.event == .end || isBare))
                || isShared && next.event != .end && !next.mayShare
            {
                faults.append((.timestamp, "\(next.timestamp) after \(last.timestamp)"))
            }
        }
        if next.event != .end,
            sends.contains(where: {
                $0.life == next.life && $0.answeredAt == nil && next.at - $0.at < .seconds(10)
                    && !$0.isAstray && !hasDeparted(since: $0.at)
            })
        {
            faults.append((.inFlight, "another one is under way"))
        }
        faults += startFaults(next)
        if next.event != .end, hasEnded(before: next) {
            faults.append((.endIsLast, "\(next.event) after the end"))
        }
        if let alert = next.alert,
            sends.contains(where: { $0.alert == alert && $0.counts }), !resendsStarts, !isUnsure
        {
            faults.append((.alertOnce, "alert \(alert) a second time"))
        }
        return faults
    }

    /// Whether its card has had its end. A new installation has another card.
    private func hasEnded(before next: Sent) -> Bool {
        guard let end = remembered.last(where: { $0.event == .end }) else { return false }
        let start = next.event == .start ? next : sends.last { $0.event == .start && $0.counts }
        return !isUnsure || start.map { $0.at < end.at } ?? true
    }

    private func startFaults(_ next: Sent) -> [(Promise, String)] {
        guard next.event == .start else { return [] }
        let before = sends.filter { $0.event == .start && $0.counts }
        guard let last = before.last, !isUnsure else { return [] }
        let isCut = cuts.contains { last.at <= $0 }
        // To the relay a device that came back is another one if the log has lost the start.
        if hasDeparted(since: last.at), isCut {
            isUnsure = true
            return []
        }
        let isForgotten = last.isForgotten || isCut
        if resendsStarts, last.fate != .accepted || isForgotten { return [] }
        return [(.oneStart, "a second start, \(next.at - last.at) after one that counts")]
    }

    // MARK: Windows

    /// Everything that a window holds: ends stand outside.
    var counted: [Sent] { sends.filter { $0.counts && $0.event != .end } }

    /// Checks every window of priority 10 and every pair of priority 5, of all that counts but
    /// ends: under each grant while it held, and under the widest of them all the time.
    func windowFaults(
        _ timeline: GrantTimeline, _ budgets: Budgets
    ) -> [(Promise, String, MonotonicInstant)] {
        let counted = counted
        var faults: [(Promise, String, MonotonicInstant)] = []
        for period in timeline.periods {
            let grant = budgets[period.budgetClass]
            let sends = counted.filter { $0.at >= period.from && $0.at < period.to }
            for sends in parts(sends) {
                faults += Self.bucketFaults(sends.filter { $0.priority == 10 }, grant)
                faults += Self.spacingFaults(sends, grant.spacing, "two sends")
                faults += Self.spacingFaults(
                    sends.filter { $0.priority == 5 }, grant.lowPrioritySpacing, "priority 5")
            }
        }
        guard timeline.changes.count > 1 else { return faults }
        for sends in parts(counted.filter { !$0.mayShare && $0.priority == 10 }) {
            faults += Self.bucketFaults(sends, budgets.widest(of: timeline.all))
        }
        return faults
    }

    /// Cut where the log was put back.
    private func parts(_ sends: [Sent]) -> [[Sent]] {
        guard !cuts.isEmpty else { return [sends] }
        return (cuts + [MonotonicInstant(nanoseconds: .max)]).enumerated().map { index, end in
            let start = index == 0 ? MonotonicInstant(nanoseconds: .min) : cuts[index - 1]
            return sends.filter { $0.at > start && $0.at <= end }
        }
    }

    /// A bucket that refills exactly: it runs dry exactly where some window holds more than burst +
    /// rate · w.
    static func bucketFaults(
        _ sends: [Sent], _ grant: Grant
    ) -> [(Promise, String, MonotonicInstant)] {
        guard let perHour = grant.perHour else { return [] }
        var level = Double(grant.burst)
        var last: MonotonicInstant?
        for (index, send) in sends.enumerated() {
            if let last {
                let seconds = Double((send.at - last).nanoseconds) / 1e9
                level = min(Double(grant.burst), level + seconds * perHour / 3_600)
            }
            last = send.at
            level -= 1
            if level < -1e-6 {
                let detail = "priority 10 for the \(index + 1)th time, \(-level) more than granted"
                return [(.budget, detail, send.at)]
            }
        }
        return []
    }

    static func spacingFaults(
        _ sends: [Sent], _ spacing: Span, _ what: String
    ) -> [(Promise, String, MonotonicInstant)] {
        for (one, other) in zip(sends, sends.dropFirst()) {
            let gap = (other.at - one.at).nanoseconds
            if gap < spacing.nanoseconds {
                let detail = "\(what) within \(Double(gap) / 1e9) s"
                return [(.spacing, detail, other.at)]
            }
        }
        return []
    }
}

extension Budgets {
    /// At least as wide as each of these; those without a bucket do not count.
    func widest(of classes: Set<BudgetClass>) -> Grant {
        let grants = classes.map { self[$0] }.filter { $0.perHour != nil }
        return Grant(
            spacing: .zero, burst: grants.map(\.burst).max() ?? 0,
            perHour: grants.compactMap(\.perHour).max(), reserve: 0, lowPrioritySpacing: .zero)
    }
}
