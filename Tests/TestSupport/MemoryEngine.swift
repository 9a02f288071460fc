import Synchronization
package import TomboloEventLog
package import TomboloLog

/// The tables of a log in memory, as a second engine for tests: what is committed survives its
/// engines.
package final class MemoryTables: Sendable {
    /// Rows in the order of their keys.
    typealias Rows = [(key: Int64, row: [UInt8])]

    private let tables = Mutex<[LogTable: Rows]>([:])

    package init() {}

    fileprivate var committed: [LogTable: Rows] { tables.withLock { $0 } }

    fileprivate func commit(_ new: [LogTable: Rows]) { tables.withLock { $0 = new } }

    /// One that writes; the open transaction of an earlier one never was.
    package func writer() -> any LogWriting { MemoryEngine(self, isWriter: true) }

    package func reader() -> any LogReading { MemoryEngine(self, isWriter: false) }
}

private final class MemoryEngine: LogWriting {
    private let store: MemoryTables
    private let isWriter: Bool
    /// Of the open transaction, or of one moment of a reader.
    private var own: [LogTable: MemoryTables.Rows]?

    init(_ store: MemoryTables, isWriter: Bool) { (self.store, self.isWriter) = (store, isWriter) }

    private func rows(_ table: LogTable) -> MemoryTables.Rows {
        (own ?? store.committed)[table] ?? []
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
        let rows = rows(table)
        let index = place(key, in: rows)
        guard index < rows.count, rows[index].key == key else { return nil }
        return rows[index].row.withUnsafeBytes { take(key, $0.bytes) }
    }

    func scan(
        _ table: LogTable, _ keys: ClosedRange<Int64>, _ order: LogOrder,
        _ take: (Int64, RawSpan) throws(EventLogError) -> Bool
    ) throws(EventLogError) {
        let rows = rows(table)
        let range = range(keys, in: rows)
        for step in 0..<range.count {
            let index =
                order == .rising ? range.lowerBound + step : range.upperBound - 1 - step
            let (key, row) = rows[index]
            guard try take(key, row.span.bytes) else { return }
        }
    }

    func lengths(
        _ table: LogTable, _ keys: ClosedRange<Int64>, _ take: (Int64, Int64) -> Bool
    ) throws(EventLogError) {
        let rows = rows(table)
        for index in range(keys, in: rows) {
            guard take(rows[index].key, Int64(rows[index].row.count)) else { return }
        }
    }

    func edge(
        _ table: LogTable, _ order: LogOrder, in keys: ClosedRange<Int64>
    ) throws(EventLogError) -> Int64? {
        let rows = rows(table)
        let range = range(keys, in: rows)
        guard !range.isEmpty else { return nil }
        return rows[order == .rising ? range.lowerBound : range.upperBound - 1].key
    }

    func shards(of kind: LogTable.Kind) throws(EventLogError) -> [Int64] {
        (own ?? store.committed).keys.filter { $0.kind == kind }.map(\.shard).sorted()
    }

    func fault() throws(EventLogError) -> String? { nil }

    // MARK: Writing

    private func change(_ table: LogTable, _ body: (inout MemoryTables.Rows) -> Void) {
        var tables = own ?? store.committed
        own = nil
        body(&tables[table, default: []])
        own = tables
    }

    func put(
        _ table: LogTable, _ key: Int64, _ row: UnsafeRawBufferPointer, over: LogPut
    ) throws(EventLogError) {
        let row = Array(row)
        change(table) { rows in
            let index = place(key, in: rows)
            let isThere = index < rows.count && rows[index].key == key
            precondition(over == .any || isThere == (over == .changed), "\(table) \(key)")
            if isThere { rows[index].row = row } else { rows.insert((key, row), at: index) }
        }
    }

    func delete(
        _ table: LogTable, _ keys: ClosedRange<Int64>, isPersonal: Bool
    ) throws(EventLogError) -> Int64 {
        guard (own ?? store.committed)[table] != nil else { return 0 }
        var count = 0
        change(table) { rows in
            let range = range(keys, in: rows)
            count = range.count
            rows.removeSubrange(range)
        }
        return Int64(count)
    }

    func drop(_ table: LogTable) throws(EventLogError) {
        var tables = own ?? store.committed
        tables[table] = nil
        own = tables
    }

    func commit() throws(EventLogError) {
        guard let own else { return }
        store.commit(own)
        self.own = nil
    }

    func rollBack() throws(EventLogError) { own = nil }

    var isCheckpointDue: Bool { false }
    func checkpoint() throws(EventLogError) -> Bool { true }
    func scrub(waiting milliseconds: Int32) throws(EventLogError) -> Bool { true }
    func leaveAsACrashWould() {}
}

/// Room without end.
package struct MemoryRoom: LogRoom {
    package init() {}
    package var isThere: Bool { true }
    package func makeRoom() -> Bool { false }
    package func explaining(_ error: EventLogError) -> EventLogError { error }
}
