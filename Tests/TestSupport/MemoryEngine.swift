import Synchronization
package import TomboloCore
package import TomboloEventLog
package import TomboloLog

/// The tables of a log in memory, as a second engine for tests and simulations: what is committed
/// survives its engines.
///
/// It traps where a question breaks a rule of `LogReading` that another engine needs.
package final class MemoryTables: Sendable {
    /// Rows in the order of their keys.
    typealias Rows = [(key: Int64, row: [UInt8])]

    private struct State {
        var tables: [LogTable: Rows] = [:]
        var isFull = false
        /// So many operations are left before the power goes.
        var operationsLeft: Int?
        var isDark = false
    }

    private let state = Mutex(State())

    package init() {}

    /// One that writes; the open transaction of an earlier one never was.
    package func writer() -> any LogWriting { MemoryEngine(self, isWriter: true) }

    package func reader() -> any LogReading { MemoryEngine(self, isWriter: false) }

    /// Other tables, with what is committed in these.
    package func copy() -> MemoryTables {
        let (copy, tables) = (MemoryTables(), committed)
        copy.state.withLock { $0.tables = tables }
        return copy
    }

    fileprivate var committed: [LogTable: Rows] { state.withLock { $0.tables } }

    // MARK: Trouble

    /// Commits are refused, or taken again.
    package func setFull(_ isFull: Bool) { state.withLock { $0.isFull = isFull } }

    /// The power goes with the operation after so many: rows that are put, ranges that are deleted,
    /// commits. It goes after a commit is durable, and before anybody knows.
    package func planPowerLoss(after operations: Int) {
        state.withLock { $0.operationsLeft = operations }
    }

    /// No power loss is to come. Answers whether the power is gone already.
    package func calm() -> Bool {
        state.withLock { state in
            state.operationsLeft = nil
            return state.isDark
        }
    }

    package func restorePower() {
        state.withLock { ($0.operationsLeft, $0.isDark) = (nil, false) }
    }

    /// One that changes something.
    fileprivate func operate(
        _ work: (inout [LogTable: Rows]) -> Void = { _ in }
    ) throws(EventLogError) {
        let isDark = state.withLock { state in
            guard !state.isDark else { return true }
            if let left = state.operationsLeft { state.operationsLeft = left - 1 }
            state.isDark = state.operationsLeft.map { $0 < 0 } ?? false
            work(&state.tables)
            return state.isDark
        }
        if isDark { throw .unusable(cause: "the power is gone", hint: "start again") }
    }

    fileprivate func commit(_ new: [LogTable: Rows]) throws(EventLogError) {
        if state.withLock({ $0.isFull }) { throw .full(hint: "free some space") }
        try operate { $0 = new }
    }
}

private final class MemoryEngine: LogWriting {
    private let store: MemoryTables
    private let isWriter: Bool
    /// Of the open transaction, or of one moment of a reader.
    private var own: [LogTable: MemoryTables.Rows]?
    /// What the open transaction has changed.
    private var changed: Set<LogTable> = []
    private var isHandingOver = false

    init(_ store: MemoryTables, isWriter: Bool) { (self.store, self.isWriter) = (store, isWriter) }

    private var tables: [LogTable: MemoryTables.Rows] {
        precondition(!isHandingOver, "who is handed rows asks nothing")
        return own ?? store.committed
    }

    /// For questions that need not see what the open transaction put.
    private func settled(_ table: LogTable) -> MemoryTables.Rows {
        precondition(!changed.contains(table), "\(table) is asked while it changes")
        return tables[table] ?? []
    }

    /// Where `key` is, or would be.
    private func place(_ key: Int64, in rows: MemoryTables.Rows) -> Int {
        var (low, high) = (0, rows.count)
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].key < key { low = middle + 1 } else { high = middle }
        }
        return low
    }

    private func range(_ keys: ClosedRange<Int64>, in rows: MemoryTables.Rows) -> Range<Int> {
        let first = place(keys.lowerBound, in: rows)
        var last = place(keys.upperBound, in: rows)
        if last < rows.count, rows[last].key == keys.upperBound { last += 1 }
        return first..<max(first, last)
    }

    // MARK: Reading

    func atOneMoment<Answer>(
        _ body: () throws(EventLogError) -> Answer
    ) throws(EventLogError) -> Answer {
        guard !isWriter, own == nil else { return try body() }
        own = store.committed
        defer { own = nil }
        return try body()
    }

    func row<Answer>(
        _ table: LogTable, _ key: Int64, _ take: (Int64, RawSpan) -> Answer?
    ) throws(EventLogError) -> Answer? {
        let rows = tables[table] ?? []
        let index = place(key, in: rows)
        guard index < rows.count, rows[index].key == key else { return nil }
        isHandingOver = true
        defer { isHandingOver = false }
        let row = rows[index].row
        return take(key, row.span.bytes)
    }

    func scan(
        _ table: LogTable, _ ranges: [ClosedRange<Int64>], _ order: LogOrder,
        _ take: (Int64, RawSpan) throws(EventLogError) -> Bool
    ) throws(EventLogError) {
        let rows = settled(table)
        isHandingOver = true
        defer { isHandingOver = false }
        for keys in ranges {
            let range = range(keys, in: rows)
            for step in 0..<range.count {
                let index =
                    order == .rising ? range.lowerBound + step : range.upperBound - 1 - step
                let (key, row) = rows[index]
                guard try take(key, row.span.bytes) else { return }
            }
        }
    }

    func lengths(
        _ table: LogTable, _ keys: ClosedRange<Int64>, _ take: (Int64, Int64) -> Bool
    ) throws(EventLogError) {
        try scan(table, [keys], .rising) { take($0, Int64($1.byteCount)) }
    }

    func edge(
        _ table: LogTable, _ order: LogOrder, in keys: ClosedRange<Int64>
    ) throws(EventLogError) -> Int64? {
        var found: Int64?
        try scan(table, [keys], order) { key, _ in
            found = key
            return false
        }
        return found
    }

    func shards(of kind: LogTable.Kind) throws(EventLogError) -> [Int64] {
        tables.keys.filter { $0.kind == kind }.map(\.shard).sorted()
    }

    func fault() throws(EventLogError) -> String? { nil }

    // MARK: Writing

    private func change(
        _ table: LogTable, _ body: (inout MemoryTables.Rows) -> Void
    ) throws(EventLogError) {
        try store.operate()
        var tables = tables
        own = nil
        body(&tables[table, default: []])
        own = tables
        changed.insert(table)
    }

    func put(
        _ table: LogTable, _ key: Int64, _ row: UnsafeRawBufferPointer, over: LogPut
    ) throws(EventLogError) {
        let row = Array(row)
        try change(table) { rows in
            let index = place(key, in: rows)
            let isThere = index < rows.count && rows[index].key == key
            precondition(over == .any || isThere == (over == .changed), "\(table) \(key)")
            if isThere { rows[index].row = row } else { rows.insert((key, row), at: index) }
        }
    }

    func delete(
        _ table: LogTable, _ keys: ClosedRange<Int64>, isPersonal: Bool
    ) throws(EventLogError) {
        guard tables[table] != nil else { return }
        try change(table) { rows in rows.removeSubrange(range(keys, in: rows)) }
    }

    func drop(_ table: LogTable) throws(EventLogError) {
        try change(table) { $0 = [] }
        own?[table] = nil
    }

    func commit() throws(EventLogError) {
        guard let own else { return }
        try store.commit(own)
        (self.own, changed) = (nil, [])
    }

    func rollBack() throws(EventLogError) { (own, changed) = (nil, []) }

    var isCheckpointDue: Bool { false }
    func checkpoint() throws(EventLogError) -> Bool { true }
    func scrub(waiting milliseconds: Int32) throws(EventLogError) -> Bool { true }
    func leaveAsACrashWould() {}
}

/// Room without end.
package struct MemoryRoom: LogRoom {
    package init() {}
    package func isThere(now: Instant) -> Bool { true }
    package func makeRoom() -> Bool { false }
    package func explaining(_ error: EventLogError) -> EventLogError { error }
}
