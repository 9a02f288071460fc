import Synchronization
import TomboloCore
package import TomboloEventLog

/// How far the log has come, as its writer knows: readers need not ask the engine.
package struct CommittedLog: Sendable {
    /// The newest event and fact; 0 where there is none.
    var event: Int64 = 0
    var fact: Int64 = 0
    /// The last event and fact that were cut.
    var cut: Int64 = 0
    var factCut: Int64 = 0
    /// Up to this event rows of heads are right; nil where all are.
    var heads: Int64?
    /// The highest number of a tenant.
    var tenants: Int64 = 0
    /// There is one tenant, whose places are those of the log.
    var isSole = false
    /// How often history was cut since the log was opened.
    var cuts = 0

    /// That of an empty log.
    init() {}

    /// As the engine has it.
    init(_ engine: any LogReading) throws(EventLogError) {
        event = try engine.newest(.event)
        fact = try engine.newest(.fact)
        tenants = try engine.edge(.tenant, .falling, in: 1 ... .max) ?? 0
        var numbers: [Int64: Int64] = [:]
        try engine.scan(.cut, 1...LogCut.Key.heads.rawValue) { key, row in
            numbers[key] = LogCut.value(key, row)
            return true
        }
        cut = numbers[LogCut.Key.log.rawValue] ?? 0
        factCut = numbers[LogCut.Key.fact.rawValue] ?? 0
        heads = numbers[LogCut.Key.heads.rawValue]
    }
}

/// The newest rows of the log in memory, so that tails and pages which keep up ask the engine
/// nothing. It holds what was appended since the log was opened, at most `rowsMax` rows and
/// `bytesMax` of bodies of events and as much of facts.
///
/// Only what is committed is in it. What a cut or an erasure takes away leaves it before that is
/// committed.
package final class LogWindow: Sendable {
    static let rowsMax = 16_384
    static let bytesMax = 16 << 20

    private struct State {
        var committed: CommittedLog?
        var tenants = Tenants()
        var events = NewestRows<NewEvent>()
        var facts = NewestRows<NewFact>()

        mutating func come(to newest: CommittedLog) {
            let cuts = committed?.cuts ?? 0
            committed = newest
            committed?.cuts = cuts
        }
    }

    private let state = Mutex(State())

    init() {}

    /// nil before recovery.
    var committed: CommittedLog? { state.withLock { $0.committed } }

    // MARK: What the writer tells it

    /// The log has come so far, and no row of it is here.
    func begin(_ committed: CommittedLog, _ tenants: Tenants) {
        state.withLock { state in
            (state.committed, state.tenants) = (committed, tenants)
            state.events.forget(through: committed.event)
            state.facts.forget(through: committed.fact)
        }
    }

    /// A batch with its places in the log.
    struct Placed {
        let batch: AppendBatch
        let receipt: AppendReceipt
        let events: [Standing.Place]
        let facts: [(tenant: Int64, tenantSeq: Int64)]
    }

    /// Batches were committed, and the log has come so far.
    func add(_ batches: [Placed], _ tenants: Tenants, _ committed: CommittedLog) {
        state.withLock { state in
            if committed.tenants != state.committed?.tenants { state.tenants = tenants }
            state.come(to: committed)
            for placed in batches {
                let (events, facts) = (placed.events, placed.facts)
                state.events.add(
                    placed.batch.events, at: placed.receipt.firstSeq, bytes: { $0.body.count }
                ) { (events[$0].tenant, events[$0].tenantSeq, events[$0].previous) }
                state.facts.add(
                    placed.batch.facts, at: placed.receipt.firstFactSeq, bytes: { $0.body.count }
                ) { (facts[$0].tenant, facts[$0].tenantSeq, 0) }
            }
        }
    }

    /// All up to there is about to be cut.
    func cut(_ cut: LogCut) {
        state.withLock { state in
            state.committed?.cuts += 1
            state.committed?.cut = cut.seq
            state.committed?.factCut = cut.fact
            state.events.forget(through: cut.seq)
            state.facts.forget(through: cut.fact)
        }
    }

    /// Rows of it are about to be erased.
    func forget() {
        state.withLock { state in
            guard let committed = state.committed else { return }
            state.events.forget(through: committed.event)
            state.facts.forget(through: committed.fact)
        }
    }

    // MARK: Pages

    /// The page, as the engine has it; nil where the window does not know all of it.
    package func events(_ query: EventQuery) -> EventPage? {
        state.withLock { state in
            guard query.scanMax >= Self.rowsMax, query.after < query.through ?? .max,
                let tenant = state.tenants.known(query.tenant),
                let rows = state.events.rows(
                    of: tenant, after: query.after, place: query.place, state.committed?.cut)
            else { return nil }
            var page = EventPage(events: [], next: nil)
            var last = query.after
            for row in rows {
                if let through = query.through, row.tenantSeq > through { return page }
                // Damaged rows have had the places between.
                guard row.tenantSeq == last + 1 else { return nil }
                last = row.tenantSeq
                let event = state.events.item(row)
                if query.activity ?? event.activity == event.activity,
                    query.matches(event.kind, recordedAt: event.recordedAt)
                {
                    page.append(
                        RecordedEvent(
                            seq: row.seq, tenantSeq: row.tenantSeq, previous: row.previous,
                            event: event))
                }
                if last == query.through { return page }
                if page.isFull(query) {
                    if row.seq < state.committed?.event ?? 0 { page.next = last }
                    return page
                }
            }
            return query.through.map { $0 > last && $0 < .max } ?? false ? nil : page
        }
    }

    /// The same of facts.
    package func facts(_ query: FactQuery) -> FactPage? {
        state.withLock { state in
            guard query.scanMax >= Self.rowsMax, let tenant = state.tenants.known(query.tenant)
            else { return nil }
            let isRising = query.order == .oldestFirst
            var rows = state.facts.rows(
                of: tenant, after: query.after, place: nil, state.committed?.factCut)
            let isWhole = rows != nil
            if !isRising, rows == nil { rows = state.facts.rows(of: tenant) }
            guard let rows else { return nil }
            var page = FactPage(facts: [], next: nil)
            for row in isRising ? rows : rows.reversed() {
                let fact = state.facts.item(row)
                guard row.tenantSeq < query.before ?? .max, query.matches(fact) else { continue }
                if page.isFull(query) {
                    page.next = page.facts.last?.tenantSeq
                    return page
                }
                page.append(RecordedFact(seq: row.seq, tenantSeq: row.tenantSeq, fact: fact))
            }
            return isWhole ? page : nil
        }
    }
}
