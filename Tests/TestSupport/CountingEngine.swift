import Synchronization
package import TomboloEventLog
package import TomboloLog

/// Counts what a log asks another engine: on a server each question is a round trip.
package final class CountingEngine: LogReading, @unchecked Sendable {
    // Sendable: for the one thread that has the engine; the count is a lock's.
    private let engine: any LogReading
    private let asked = Mutex<[String]>([])

    package init(_ engine: any LogReading) { self.engine = engine }

    /// The questions since the last call of this.
    package func takeQuestions() -> [String] {
        asked.withLock { asked in
            defer { asked = [] }
            return asked
        }
    }

    private func note(_ question: String) { asked.withLock { $0.append(question) } }

    package func atOneMoment<Answer>(
        _ body: () throws(EventLogError) -> Answer
    ) throws(EventLogError) -> Answer { try engine.atOneMoment(body) }

    package func row<Answer>(
        _ table: LogTable, _ key: Int64, _ take: (Int64, RawSpan) -> Answer?
    ) throws(EventLogError) -> Answer? {
        note("row \(table.kind) \(key)")
        return try engine.row(table, key, take)
    }

    package func rows(
        _ table: LogTable, _ keys: [Int64], _ take: (Int64, RawSpan) -> Bool
    ) throws(EventLogError) {
        note("rows \(table.kind)")
        try engine.rows(table, keys, take)
    }

    package func everyShard(
        _ kind: LogTable.Kind, _ keys: [Int64], _ take: (Int64, Int64, RawSpan) -> Bool
    ) throws(EventLogError) {
        note("everyShard \(kind)")
        try engine.everyShard(kind, keys, take)
    }

    package func scan(
        _ table: LogTable, _ ranges: [ClosedRange<Int64>], _ order: LogOrder,
        _ take: (Int64, RawSpan) throws(EventLogError) -> Bool
    ) throws(EventLogError) {
        note("scan \(table.kind) \(ranges)")
        try engine.scan(table, ranges, order, take)
    }

    package func trail(
        _ trail: LogTrail, from key: Int64, _ take: (Int64, RawSpan) -> Bool
    ) throws(EventLogError) {
        note("trail \(trail.table.kind) \(key)")
        try engine.trail(trail, from: key, take)
    }

    package func lengths(
        _ table: LogTable, _ keys: ClosedRange<Int64>, _ take: (Int64, Int64) -> Bool
    ) throws(EventLogError) {
        note("lengths \(table.kind)")
        try engine.lengths(table, keys, take)
    }

    package func edge(
        _ table: LogTable, _ order: LogOrder, in keys: ClosedRange<Int64>
    ) throws(EventLogError) -> Int64? {
        note("edge \(table.kind)")
        return try engine.edge(table, order, in: keys)
    }

    package func shards(of kind: LogTable.Kind) throws(EventLogError) -> [Int64] {
        note("shards \(kind)")
        return try engine.shards(of: kind)
    }

    package func fault() throws(EventLogError) -> String? { try engine.fault() }
}

/// A log in memory whose readers' questions are counted.
package final class CountedLog: Sendable {
    package let log: any EventLog
    private let tables: MemoryTables
    private let engines: [CountingEngine]

    /// A new one, or what the next start makes of one that was closed.
    package init(after closed: CountedLog? = nil) throws(EventLogError) {
        var chance = SplitMix64(seed: 1)
        let damage = DamageList()
        tables = closed?.tables ?? MemoryTables()
        let writer = try LogWriter(tables.writer(), isNew: closed == nil, chance: &chance)
        engines = [CountingEngine(tables.reader()), CountingEngine(tables.reader())]
        log = try EngineEventLog(
            writer, reading: LogReader(engines[0], window: writer.window, damage: damage),
            looking: LogReader(engines[1], window: writer.window, damage: damage), damage: damage,
            lastRun: nil, room: MemoryRoom(), closed: {})
    }

    /// Those since the last call of this.
    package func takeQuestions() -> [String] { engines.flatMap { $0.takeQuestions() } }
}
