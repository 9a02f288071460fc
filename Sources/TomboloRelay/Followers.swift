package import TomboloCore
import TomboloLoop

/// The rows of the log that a reader wants.
package struct LogInterest: Sendable {
    package var takesCommands: Bool
    /// Kinds of facts; nil means all kinds, empty means no facts.
    package var facts: Set<String>?
    /// Only rows of this activity; nil means rows of any activity, and rows without one.
    package var activity: Identifier?

    /// - Parameter facts: kinds of facts; nil means all kinds.
    package init(takesCommands: Bool, facts: Set<String>?, activity: Identifier?) {
        (self.takesCommands, self.facts, self.activity) = (takesCommands, facts, activity)
    }

    var takesFacts: Bool { facts.map { !$0.isEmpty } ?? true }
}

/// A point of the log up to which there is no row for a reader.
package struct LogReach: Sendable {
    /// Places among the tenant's own rows.
    package var place: LogPlace
    /// A sequence among the events of all tenants.
    package var seq: Int64
}

/// Readers at the end of the log. Each waits until there is a row for it. A commit checks the
/// readers of its tenants and wakes only those with a row. A timer asks readers for other work.
///
/// On the loop only.
final class Followers: TimerTarget, @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    /// A waiting reader.
    final class Follower: @unchecked Sendable {
        // Sendable: used on the loop's thread only.

        fileprivate let parking: Parking
        fileprivate let tenant: TenantID
        fileprivate let interest: LogInterest
        /// Returns true if the reader has other work and must stop waiting.
        fileprivate let isDue: @Sendable () -> Bool
        /// Number of the tick in each round at which `isDue` is checked.
        fileprivate let tick: Int
        /// Set when a commit has a row for the reader: the point just before that commit.
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
    /// Number of waiting followers that take facts.
    private var factReaders = 0
    private var tick = 0
    private var isTicking = false

    /// Number of ticks in a round. A round lasts a second, and checks each reader once.
    private static let ticks = 10
    private static let tickTime = Duration.milliseconds(100)

    init(on loop: any Loop) { self.loop = loop }

    var followFacts: Bool { factReaders > 0 }

    /// Waits for a row. The caller must have read the whole log, without an `await` since then.
    /// Returns the point just before the commit with a row for it; nil if no row came because
    /// `isDue` returned true or the task was cancelled.
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
        // The follower stays registered until here, so that it notices commits after it was woken.
        waiting[tenant]?[ObjectIdentifier(follower)] = nil
        if waiting[tenant]?.isEmpty == true { waiting[tenant] = nil }
        return follower.reach
    }

    /// Starts the timer. The timer stops when no follower waits.
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

    /// Wakes all followers because the relay stops.
    func wakeAll() {
        for followers in waiting.values {
            for follower in followers.values { follower.parking.unpark() }
        }
    }

    /// Wakes the followers for which a durable batch has a row.
    ///
    /// - Parameter core: the core, which has already applied the batch. It is passed inout, because
    ///   a copy would retain everything that it holds.
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

/// The rows that one tenant has in a batch.
private struct Rows {
    private(set) var (commands, facts) = (Int64(0), Int64(0))
    private var kinds: Set<String> = []
    private var activities: Set<Identifier> = []
    /// True if there are rows for every reader, or rows of activities whose name is unknown.
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
        // The fact says that other facts were not kept: every reader must see it.
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
