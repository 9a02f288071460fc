package import TomboloCore
import TomboloEventLog
import TomboloLoop

/// The rows of the log that a reader may take. It takes no others.
package struct LogInterest: Sendable {
    package var takesCommands: Bool
    /// The kinds of facts; nil: of all, empty: none.
    package var facts: Set<String>?
    /// Rows of this activity alone; nil: of any, and rows of none.
    package var activity: Identifier?

    /// - Parameter facts: nil: of all kinds.
    package init(takesCommands: Bool, facts: Set<String>?, activity: Identifier?) {
        (self.takesCommands, self.facts, self.activity) = (takesCommands, facts, activity)
    }

    var takesFacts: Bool { facts.map { !$0.isEmpty } ?? true }
}

/// Up to where there is no row for a reader.
package struct LogReach: Sendable {
    /// Among those of its tenant.
    package var place: LogPlace
    /// Among the events of all tenants.
    package var seq: Int64
}

/// Readers that have read all of the log, each until there is a row for it. A commit costs a look
/// at each reader of its tenant, and only those run that it has a row for. One clock looks whether
/// there is anything else for one of them to do.
///
/// On the loop only.
final class Followers: TimerTarget, @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    /// One that waits.
    final class Follower: @unchecked Sendable {
        // Sendable: used on the loop's thread only.

        fileprivate let parking: Parking
        fileprivate let tenant: TenantID
        fileprivate let interest: LogInterest
        /// Whether there is something else for it to do.
        fileprivate let isDue: @Sendable () -> Bool
        /// With which tick of each round it is looked at.
        fileprivate let tick: Int
        /// Set where a row came that it may take: up to before the commit of that.
        fileprivate(set) var reach: LogReach?

        fileprivate init(
            _ parking: Parking, _ tenant: TenantID, _ interest: LogInterest, tick: Int,
            _ isDue: @escaping @Sendable () -> Bool
        ) {
            (self.parking, self.tenant, self.interest) = (parking, tenant, interest)
            (self.tick, self.isDue) = (tick, isDue)
        }
    }

    private let loop: any Loop
    private var waiting: [TenantID: [ObjectIdentifier: Follower]] = [:]
    private var count = 0
    /// How many of the waiting followers take facts.
    private var factReaders = 0
    private var tick = 0
    private var isTicking = false

    /// Each reader is looked at once in so many ticks, and so that once a second.
    private static let ticks = 10
    private static let tickTime = Duration.milliseconds(100)

    init(on loop: any Loop) { self.loop = loop }

    /// Whether one of them waits for facts.
    var followFacts: Bool { factReaders > 0 }

    /// Waits; the caller has looked at all that is in the log, without an `await` since. Answers
    /// where a row came that it may take; nil: `isDue` has said so, or the wait was cancelled, and
    /// the log has no row for it.
    func wait(
        for interest: LogInterest, of tenant: TenantID, _ isDue: @escaping @Sendable () -> Bool
    ) async -> LogReach? {
        count += 1
        let follower = Follower(
            Parking(loop), tenant, interest, tick: count % Self.ticks, isDue)
        startClock()
        waiting[tenant, default: [:]][ObjectIdentifier(follower)] = follower
        factReaders += interest.takesFacts ? 1 : 0
        await follower.parking.park()
        factReaders -= interest.takesFacts ? 1 : 0
        // Until now each commit has looked at it, also after the clock has woken it.
        waiting[tenant]?[ObjectIdentifier(follower)] = nil
        if waiting[tenant]?.isEmpty == true { waiting[tenant] = nil }
        return follower.reach
    }

    /// It stops where nobody waits.
    private func startClock() {
        guard !isTicking else { return }
        isTicking = true
        _ = loop.schedule(at: loop.now + Self.tickTime, self)
    }

    func timerFired() {
        isTicking = false
        guard !waiting.isEmpty else { return }
        startClock()
        tick = (tick + 1) % Self.ticks
        for followers in waiting.values {
            for follower in followers.values where follower.tick == tick && follower.isDue() {
                follower.parking.unpark()
            }
        }
    }

    /// The relay stops: all of them look for themselves.
    func wakeAll() {
        for followers in waiting.values {
            for follower in followers.values { follower.parking.unpark() }
        }
    }

    /// Wakes whom a batch that is durable now has a row for.
    ///
    /// - Parameter core: has taken the batch; it is lent, for a copy counts references to all that
    ///   it holds.
    func committed(_ batch: AppendBatch, _ receipt: AppendReceipt, in core: inout Core) {
        guard !waiting.isEmpty else { return }
        var all: [TenantID: Rows] = [:]
        for event in batch.events where waiting[event.tenant] != nil {
            all[event.tenant, default: Rows()].add(event, core)
        }
        for fact in batch.facts where waiting[fact.tenant] != nil {
            all[fact.tenant, default: Rows()].add(fact, core)
        }
        for (tenant, rows) in all {
            guard let followers = waiting[tenant] else { continue }
            var reach = LogReach(place: core.place(of: tenant), seq: receipt.firstSeq - 1)
            reach.place.command -= rows.commands
            reach.place.fact -= rows.facts
            for follower in followers.values where follower.reach == nil {
                guard rows.mayFit(follower.interest) else { continue }
                follower.reach = reach
                follower.parking.unpark()
            }
        }
    }
}

/// What a batch has of one tenant.
private struct Rows {
    private(set) var (commands, facts) = (Int64(0), Int64(0))
    private var kinds: Set<String> = []
    private var activities: Set<Identifier> = []
    /// Rows of activities that have no name any more, or rows for everybody.
    private var hasOthers = false

    private var last: ActivityNumber?

    mutating func add(_ event: NewEvent, _ core: borrowing Core) {
        commands += 1
        add(event.activity, of: event.tenant, core)
    }

    mutating func add(_ fact: NewFact, _ core: borrowing Core) {
        facts += 1
        kinds.insert(fact.kind)
        if let number = fact.activity { add(number, of: fact.tenant, core) }
        // It tells each reader that others are left out.
        if fact.kind == NewFact.thinned { hasOthers = true }
    }

    private mutating func add(
        _ number: ActivityNumber, of tenant: TenantID, _ core: borrowing Core
    ) {
        guard number != last else { return }
        last = number
        guard let name = core.name(of: number, tenant: tenant) else { return hasOthers = true }
        activities.insert(name)
    }

    func mayFit(_ interest: LogInterest) -> Bool {
        if let activity = interest.activity, !hasOthers, !activities.contains(activity) {
            return false
        }
        if interest.takesCommands, commands > 0 { return true }
        guard facts > 0 else { return false }
        guard let asked = interest.facts else { return true }
        return !asked.isDisjoint(with: kinds)
    }
}
