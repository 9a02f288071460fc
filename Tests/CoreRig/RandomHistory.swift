package import TomboloCore
import TomboloJSON

/// One random life of a relay on virtual time: events, clips, alerts, outcomes, presence, pauses,
/// crashes and a wall clock that is set either way, from a seed; and what must hold of it
/// afterwards (pacing rules 2 to 6, the ledger sum).
package struct RandomHistory: ~Copyable {
    /// A push and what Apple said of it; nil until then.
    private final class Fates {
        var results: [PushID: PushResult] = [:]
        var isCalm = false
        var chance: Chance
        init(_ chance: Chance) { self.chance = chance }

        func judge(_ push: Push) -> PushResult? {
            let result = draw(push)
            results[push.id] = result
            return result
        }

        private func draw(_ push: Push) -> PushResult? {
            if isCalm { return .accepted }
            switch Int.random(in: 0..<20, using: &chance) {
            case 0: return .notSent(reason: "refused")
            case 1: return .unknown(reason: "cut")
            case 2:
                return .rejected(
                    status: 429, reason: "TooManyRequests", reaches: .tokenBackOff,
                    tokenGoneSince: nil)
            case 3: return nil
            default: return .accepted
            }
        }
    }

    package static let activities = ["a", "b", "c"]
    package let seed: UInt64
    package let budgetClass: BudgetClass
    package var rig = Rig()
    private var chance: Chance
    private let fates: Fates
    private var second = 0.0
    private var paused: [Int64] = []
    private var ended: Set<String> = []
    /// Push ids begin again with a crash: pushes before it are told apart by their place.
    private var sent: [(at: Span, push: Push, result: PushResult?)] = []
    private var crashes: [Span] = []
    /// What each restart after a crash began with, and when.
    package private(set) var recoveries: [(recovery: CoreRecovery, now: Instant)] = []
    private var clock = RelayClock(wall: Rig.epoch, monotonic: 0, boot: boot)
    /// How far the machine's wall clock is off, and how often it was set.
    private var wallOffset = Span.zero
    package private(set) var clockJumps = 0
    /// Is called with the rig before each crash.
    package var beforeCrash: (borrowing Rig) -> Void = { _ in }
    /// How many decisions of events the relay still tells of at the end.
    package private(set) var decisionsTold = 0
    private var faults: [String] = []

    package init(seed: UInt64) {
        self.seed = seed
        chance = Chance(seed)
        fates = Fates(Chance(seed &+ 1))
        budgetClass = BudgetClass.allCases[Int(seed % 3)]
        let fates = fates
        rig.verdict = { fates.judge($0) }
        rig.provesRestarts = false
    }

    /// Lives it, then waits until everything has settled.
    package mutating func run(steps: Int) {
        rig.device("phone", budgetClass)
        rig.token("start:Runner", "ff")
        for (index, id) in Self.activities.enumerated() {
            if Bool.random(using: &chance) { rig.token("activity:\(id)", "aa0\(index)") }
            rig.command(
                .start, #"{"type":"Runner","audience":{"device":"phone"},"state":{"n":0}}"#,
                id: id)
        }
        for step in 1...steps {
            second += Double(Int.random(in: 0..<4_000, using: &chance)) / 1_000
            if Int.random(in: 0..<20, using: &chance) == 0 { second += 60 }
            rig.advance(to: second)
            followClock()
            act(step)
            answerLate(one: true)
            collect()
        }
        settle()
    }

    private mutating func act(_ step: Int) {
        let index = Int.random(in: 0..<3, using: &chance)
        let id = Self.activities[index]
        let urgency = ["low", "normal", "high"][Int.random(in: 0..<3, using: &chance)]
        switch Int.random(in: 0..<25, using: &chance) {
        case 0...9 where !ended.contains(id):
            rig.command(.update, #"{"state":{"n":\#(step)},"urgency":"\#(urgency)"}"#, id: id)
        case 10,
            11 where !ended.contains(id):
            rig.command(
                .update, #"{"state":{"n":\#(step)},"alert":{"title":"t"},"alert_ttl":"30s"}"#,
                id: id)
        case 12 where !ended.contains(id): rig.command(.play, Self.loop(&chance), id: id)
        case 13 where !ended.contains(id):
            rig.command(
                .play,
                #"{"tween":{"path":"/t","from":0,"to":\#(step),"duration":"3s"},"urgency":"low"}"#,
                id: id)
        case 14 where !ended.contains(id):
            if rig.view(id)?.clip != nil { rig.command(.stop, "{}", id: id) }
        case 15:
            if Int.random(in: 0..<4, using: &chance) == 0, ended.insert(id).inserted {
                rig.command(.end, #"{"dismiss":"now"}"#, id: id)
            }
        case 16: rig.presence(.active)
        case 17: rig.presence(.background)
        case 18: paused.append(rig.pause(#"{"activity":"\#(id)"}"#))
        case 19: if let pause = paused.popLast() { rig.resume(pause) }
        case 20: rig.token("activity:\(id)", "aa0\(index)")
        case 21: crash()
        case 22: setWallClock()
        default: break
        }
    }

    private static func loop(_ chance: inout Chance) -> String {
        let every = [100, 700, 2_500][Int.random(in: 0..<3, using: &chance)]
        let clock = ["wall", "shown"][Int.random(in: 0..<2, using: &chance)]
        return #"{"flipbook":{"path":"/f","frames":[1,2,3],"every":"\#(every)ms","#
            + #""clock":"\#(clock)"}}"#
    }

    private static let boot = "boot"

    /// By a second or by half an hour, forwards or back.
    private mutating func setWallClock() {
        let most: Int64 = Bool.random(using: &chance) ? 2_000 : 1_800_000
        wallOffset = .milliseconds(Int64.random(in: -most...most, using: &chance))
        clockJumps += 1
        followClock()
    }

    private var monotonic: Int64 { (rig.now - Rig.epoch).nanoseconds }

    private mutating func followClock() {
        if clock.follow(wall: rig.now + wallOffset, monotonic: monotonic) {
            rig.step(.clock(lead: clock.lead))
        }
    }

    private mutating func crash() {
        collect()
        fates.results = [:]
        second += 1
        rig.advance(to: second)
        let last = clock.reading(monotonic: monotonic, boot: Self.boot)
        clock = RelayClock(
            wall: rig.now + wallOffset, monotonic: monotonic, boot: Self.boot, after: last)
        beforeCrash(rig)
        var recovery = rig.recovery()
        recovery.lead = clock.lead
        recovery.before = clock.before
        recoveries.append((recovery, rig.now))
        let damage = rig.recover(recovery, stores: true)
        crashes.append(rig.now - Rig.epoch)
        if !damage.isEmpty { faults.append("seed \(seed): \(damage)") }
    }

    /// Takes the pushes of this run of the relay with what became of them.
    private mutating func collect() {
        for (at, push) in rig.pushes.dropFirst(sent.count) {
            sent.append((at, push, fates.results[push.id] ?? nil))
        }
    }

    /// Every push gets its outcome in the end, however late.
    private mutating func answerLate(one: Bool) {
        for push in one ? Array(rig.flying.prefix(1)) : rig.flying {
            guard !one || Int.random(in: 0..<8, using: &chance) == 0 else { return }
            rig.answer(push, .unknown(reason: "late"))
        }
    }

    private mutating func settle() {
        // From now on each push is answered, as the client promises. A parked upstream waits for
        // the answers of its pushes.
        fates.isCalm = true
        answerLate(one: false)
        for pause in paused { rig.resume(pause) }
        for (index, id) in Self.activities.enumerated() {
            rig.token("activity:\(id)", "aa0\(index)")
            if !ended.contains(id), rig.view(id)?.clip != nil { rig.command(.stop, "{}", id: id) }
        }
        rig.presence(.background)
        rig.advance(to: second + 7_200)
        collect()
    }

    // MARK: What must hold

    /// Answers what was broken; empty where all holds.
    package mutating func check() -> [String] {
        for (index, id) in Self.activities.enumerated() {
            let own = sent.filter { $0.push.token == "aa0\(index)" }
            checkTrailing(id, own)
            checkTimestamps(id, own.filter { Self.counts($0.result) }.map(\.push))
            checkEnd(id, own.map(\.push))
            checkLedger(id)
            checkDeliveries(id)
            // A start of this activity spends its tokens too; starts share one token.
            let starts = sent.filter { $0.push.event == .start && Self.names(id, $0.push) }
            expect(
                starts.count { Self.counts($0.result) } <= 1, "seed \(seed): \(id) started twice")
            checkGrant(id, own + starts, rig.core.configuration.budgets[budgetClass])
        }
        let device = rig.core.configuration.budgets[budgetClass].times(4)
        checkGrant("device", sent, device)
        return faults
    }

    private mutating func expect(_ holds: Bool, _ fault: String) {
        if !holds { faults.append(fault) }
    }

    private static func names(_ id: String, _ push: Push) -> Bool {
        Rig.aps(push)?["attributes"]?["activity_id"]?.string == id
    }

    /// An attempt that was refused, or surely not processed, is no send.
    private static func counts(_ result: PushResult?) -> Bool {
        switch result {
        case nil, .accepted, .unknown: true
        case .rejected, .notSent: false
        }
    }

    private mutating func checkTrailing(
        _ id: String, _ own: [(at: Span, push: Push, result: PushResult?)]
    ) {
        guard !ended.contains(id), let last = own.last, let view = rig.view(id) else { return }
        guard view.destinations.first?.phase == "live" else { return }
        expect(
            Rig.state(last.push) == String(decoding: view.state.bytes, as: UTF8.self),
            "seed \(seed): \(id) shows an old state")
    }

    private mutating func checkTimestamps(_ id: String, _ own: [Push]) {
        let stamps = own.filter { $0.event != .end }
            .compactMap { Rig.aps($0)?["timestamp"]?.integer }
        let rises = zip(stamps, stamps.dropFirst()).allSatisfy {
            budgetClass == .lab ? $0 <= $1 : $0 < $1
        }
        expect(rises, "seed \(seed): timestamps of \(id): \(stamps)")
    }

    private mutating func checkEnd(_ id: String, _ own: [Push]) {
        guard let first = own.firstIndex(where: { $0.event == .end }) else { return }
        expect(
            own[first...].allSatisfy { $0.event == .end },
            "seed \(seed): something follows \(id)'s end")
    }

    private mutating func checkLedger(_ id: String) {
        for view in rig.ledgers(id) {
            let ledger = view.ledger
            expect(
                ledger.counts.decided + ledger.waiting(at: view.version)
                    == view.version - ledger.since + 1, "seed \(seed): the books of \(id)")
            expect(ledger.waiting(at: view.version) == 0, "seed \(seed): \(id) still waits")
            let frames = view.frames
            expect(
                frames.asked == frames.sent + frames.merged + frames.skipped,
                "seed \(seed): the frames of \(id)")
        }
    }

    /// Every event has exactly one decision on record, and it is the one that the ledger counts.
    /// What a crash has made the relay forget may be decided once more; nothing is left out.
    private mutating func checkDeliveries(_ id: String) {
        guard let view = rig.view(id) else { return }
        let records = rig.facts.filter { $0.activity == view.number }
            .compactMap { DeliveryRecord($0) }
        decisionsTold += records.count { $0.decided != nil }
        var decided = records.compactMap(\.decided)
        // A line that goes on ends where the next begins.
        let goesOn = records.filter { $0.decided != nil }.map(\.goesOn)
        for place in decided.indices where goesOn[place] {
            let next = place + 1 < decided.count ? decided[place + 1].lowerBound - 1 : view.version
            decided[place] = decided[place].lowerBound...max(decided[place].upperBound, next)
        }
        guard let first = decided.first, let last = decided.last else { return }
        let isGapless = zip(decided, decided.dropFirst()).allSatisfy {
            crashes.isEmpty
                ? $0.upperBound + 1 == $1.lowerBound : $0.upperBound + 1 >= $1.lowerBound
        }
        expect(isGapless, "seed \(seed): decisions of \(id): \(decided)")
        expect(last.upperBound == view.version, "seed \(seed): \(id) has more than is on record")
        if crashes.isEmpty {
            expect(first.lowerBound == 1, "seed \(seed): \(id)'s first")
            checkCounts(id, records)
        }
    }

    /// The record of each version says what the books count.
    private mutating func checkCounts(_ id: String, _ records: [DeliveryRecord]) {
        let all = rig.ledgers(id)
        guard let ledger = all.first?.ledger, all.count == 1, ledger.since == 1 else { return }
        var counts: [EventDecision: Int64] = [:]
        for record in records {
            guard let decided = record.decided else { continue }
            for version in decided {
                if let decision = record.decision(of: version) { counts[decision, default: 0] += 1 }
            }
        }
        let books = ledger.counts
        expect(
            counts[.sent, default: 0] == books.sent && counts[.merged, default: 0] == books.merged
                && counts[.unchanged, default: 0] == books.unchanged
                && counts[.superseded, default: 0] == books.superseded
                && counts[.refused, default: 0] == books.refused,
            "seed \(seed): \(id): on record \(counts), in the books \(books)")
    }

    private mutating func checkGrant(
        _ name: String, _ pushes: [(at: Span, push: Push, result: PushResult?)], _ grant: Grant
    ) {
        guard let perHour = grant.perHour else { return }
        let counted = pushes.filter { Self.counts($0.result) }.sorted { $0.at < $1.at }
        let high = counted.filter { $0.push.priority == 10 && $0.push.event != .end }
            .map(\.at.seconds)
        for first in high.indices {
            for last in first..<high.count {
                let most = Double(grant.burst) + perHour * (high[last] - high[first]) / 3_600
                if Double(last - first + 1) > most + 1e-6 {
                    faults.append("seed \(seed): \(name) had \(last - first + 1) of \(most)")
                    return
                }
            }
        }
        let low = counted.filter { $0.push.priority == 5 && $0.push.event != .end }
            .map(\.at.seconds)
        let spacing = grant.lowPrioritySpacing.seconds
        let keeps = zip(low, low.dropFirst()).allSatisfy { $1 - $0 >= spacing - 1e-6 }
        expect(keeps, "seed \(seed): \(name) at priority 5")
    }
}
