import Synchronization
import TomboloCore
package import TomboloEventLog

/// How far the log goes, as the writer knows it, so that readers need not ask the engine.
package struct CommittedLog: Sendable {
    /// Sequences of the newest event and fact; 0 if there is none.
    var event: Int64 = 0
    var fact: Int64 = 0
    /// Sequences of the last event and fact that were cut.
    var cut: Int64 = 0
    var factCut: Int64 = 0
    /// Rows of heads include the events up to this one; nil means all events.
    var heads: Int64?
    /// The highest tenant number in use.
    var tenants: Int64 = 0
    /// True if there is only one tenant, so that its places equal the log's sequences.
    var isSole = false
    /// How often history was cut since the log was opened.
    var cuts = 0

    /// State of an empty log.
    init() {}

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

/// The newest rows of the log in memory, so that tails and pages near the end need not read from
/// the engine. It holds rows that were appended since the log was opened: at most `rowsMax` events
/// with `bytesMax`, and as many facts.
///
/// All its rows are committed. Rows that a cut or an erasure deletes leave it before that commits.
package final class LogWindow: Sendable {
    static let rowsMax = 16_384
    static let bytesMax = 16 << 20
    /// If this many transactions come without a query for a page, rows are no longer kept.
    static let idleMax = 1_000

    private struct State {
        var committed: CommittedLog?
        var tenants = Tenants()
        var events = NewestRows()
        var facts = NewestRows()
    }

    private let state = Mutex(State())
    /// Number of transactions since the last query for a page.
    private let idle = Atomic(idleMax)

    init() {}

    /// nil before recovery.
    var committed: CommittedLog? { state.withLock { $0.committed } }

    // MARK: From the writer

    /// Sets the log's state and drops all rows.
    func begin(_ committed: CommittedLog, _ tenants: Tenants) {
        state.withLock { state in
            (state.committed, state.tenants) = (committed, tenants)
            state.events.forget(through: committed.event)
            state.facts.forget(through: committed.fact)
        }
    }

    /// True if a page was requested lately. Else no rows are kept, as copying slows appends.
    var isWanted: Bool { idle.load(ordering: .relaxed) < Self.idleMax }

    /// Adds committed rows and the log's new state.
    func add(
        _ newest: (events: NewestRows.Piece, facts: NewestRows.Piece)?, _ tenants: Tenants,
        _ committed: CommittedLog
    ) {
        idle.add(1, ordering: .relaxed)
        state.withLock { state in
            if committed.tenants != state.committed?.tenants { state.tenants = tenants }
            let cuts = state.committed?.cuts ?? 0
            state.committed = committed
            state.committed?.cuts = cuts
            if let newest {
                state.events.add(newest.events)
                state.facts.add(newest.facts)
            } else {
                state.events.forget(through: committed.event)
                state.facts.forget(through: committed.fact)
            }
        }
    }

    /// Drops the rows up to `cut`, which are about to be cut.
    func cut(_ cut: LogCut) {
        state.withLock { state in
            state.committed?.cuts += 1
            state.committed?.cut = cut.seq
            state.committed?.factCut = cut.fact
            state.events.forget(through: cut.seq)
            state.facts.forget(through: cut.fact)
        }
    }

    /// Drops all rows, because some are about to be erased.
    func forget() {
        state.withLock { state in
            guard let committed = state.committed else { return }
            state.events.forget(through: committed.event)
            state.facts.forget(through: committed.fact)
        }
    }

    // MARK: Pages

    /// The same page as from the engine; nil if the window does not hold all of its rows.
    package func events(_ query: EventQuery) -> EventPage? {
        idle.store(0, ordering: .relaxed)
        return state.withLock { state in
            guard query.scanMax >= Self.rowsMax, query.after < query.through ?? .max,
                let committed = state.committed, let tenant = state.tenants.known(query.tenant)
            else { return nil }
            let places = state.events.places(
                after: query.after, query.place ?? (committed.isSole ? query.after : nil),
                cut: committed.cut
            ) { seq, row in
                guard let numbers = EventRow.unproved(row), numbers.tenant == tenant else {
                    return nil
                }
                return EventRow.tenantSeq(numbers, row, at: seq)
            }
            guard let places else { return nil }
            var page = EventPage(events: [], next: nil)
            var last = query.after
            for place in places {
                guard
                    let event = state.events.row(
                        place, { EventRow.event(place.seq, $0, tenants: state.tenants) })
                else { return nil }
                if let through = query.through, event.tenantSeq > through { return page }
                // A gap in places means a damaged row: let the engine answer.
                guard event.tenantSeq == last + 1 else { return nil }
                last = event.tenantSeq
                if query.activity ?? event.event.activity == event.event.activity,
                    query.matches(event.event.kind, recordedAt: event.event.recordedAt)
                {
                    page.append(event)
                }
                if last == query.through { return page }
                if page.isFull(query) {
                    if event.seq < committed.event { page.next = last }
                    return page
                }
            }
            return query.through.map { $0 > last && $0 < .max } ?? false ? nil : page
        }
    }

    /// The same page of facts as from the engine; nil if the window does not hold all of its rows.
    package func facts(_ query: FactQuery) -> FactPage? {
        idle.store(0, ordering: .relaxed)
        return state.withLock { state in
            guard query.scanMax >= Self.rowsMax, let committed = state.committed,
                let tenant = state.tenants.known(query.tenant)
            else { return nil }
            func own(_ seq: Int64, _ row: RawSpan) -> Int64? {
                guard let numbers = FactRow.unproved(row), numbers.tenant == tenant else {
                    return nil
                }
                return FactRow.tenantSeq(numbers, row, at: seq)
            }
            let filter = FactFilter(query, tenant: tenant)
            var page = FactPage(facts: [], next: nil)
            // Adds one fact if it matches. Returns false if the page is full.
            func take(_ place: NewestRows.Place) -> Bool {
                let fact = state.facts.row(place) { row -> RecordedFact? in
                    guard let numbers = FactRow.unproved(row), filter.matches(numbers, row) else {
                        return nil
                    }
                    return FactRow.fact(place.seq, row, tenants: state.tenants)
                }
                guard let fact, fact.tenantSeq < query.before ?? .max else { return true }
                guard !page.isFull(query) else {
                    page.next = page.facts.last?.tenantSeq
                    return false
                }
                page.append(fact)
                return true
            }
            if query.order == .oldestFirst {
                let places = state.facts.places(
                    after: query.after, committed.isSole ? query.after : nil,
                    cut: committed.factCut, own: own)
                guard let places else { return nil }
                _ = places.first { !take($0) }
                return page
            }
            let isStopped = state.facts.isStopped { place in
                guard let tenantSeq = state.facts.row(place, { own(place.seq, $0) }) else {
                    return true
                }
                return tenantSeq > query.after && take(place)
            }
            return isStopped || state.facts.first <= committed.factCut + 1 ? page : nil
        }
    }
}
