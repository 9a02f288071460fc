import Glibc
import Synchronization
import TestSupport
import Testing
import TomboloEventLog

@testable import TomboloLog
@testable import TomboloSQLite

/// What keeps a log's tables: the tests of this room run over each.
enum Engine: CaseIterable {
    case sqlite, memory, postgres

    /// PostgreSQL where there is a server: `deploy/postgres/server` starts one for a command.
    static let allCases: [Engine] =
        PostgresPlace.isThere ? [.sqlite, .memory, .postgres] : [.sqlite, .memory]

    /// Two of them, for tests that take seconds.
    static let two: [Engine] = [.sqlite, PostgresPlace.isThere ? .postgres : .memory]
}

/// Where a log is kept by an engine of either kind; gone with the value.
final class LogPlace: EventLogPlace {
    private let tables = MemoryTables()
    /// Of SQLite's files; nil where the tables are in memory.
    private let directory: String?
    /// A schema of a server's; nil where it is another engine.
    private let schema: PostgresPlace?
    private let fullness = Fullness()
    private let newest = Mutex<EngineEventLog?>(nil)

    init(_ kind: Engine) {
        schema = kind == .postgres ? PostgresPlace() : nil
        guard kind == .sqlite else {
            directory = nil
            return
        }
        var template = Array("/tmp/tombolo-log-XXXXXX".utf8CString)
        let made = mkdtemp(&template)
        precondition(made != nil, "/tmp takes directories")
        directory = String(decoding: template.dropLast().map(UInt8.init), as: UTF8.self)
    }

    deinit {
        guard let directory else {
            newest.withLock { $0 = nil }
            schema?.drop()
            return
        }
        // Drops the log, if one is open, before its files go.
        newest.withLock { $0 = nil }
        for end in ["", "-wal", "-shm"] { unlink("\(directory)/tombolo.db\(end)") }
        rmdir(directory)
    }

    // MARK: Opening

    /// Commits do not wait for the disk: no test of this room ends its power.
    private func engine(
        checkpointPages: Int32 = LogWriter.checkpointPages
    ) throws(EventLogError) -> (any LogWriting, isNew: Bool) {
        guard let directory else {
            let engine: any LogWriting = try schema?.engine() ?? tables.writer()
            return (engine, try engine.edge(.meta, .rising, in: .min ... .max) == nil)
        }
        let engine = try SQLiteEngine(
            writing: directory + "/tombolo.db", isDraft: true, checkpointPages: checkpointPages)
        return (engine, engine.isNew)
    }

    func reading() throws(EventLogError) -> any LogReading {
        guard let directory else { return try schema?.reading() ?? tables.reader() }
        return try SQLiteEngine(reading: directory + "/tombolo.db")
    }

    func writer(
        _ retention: LogRetention = .forever, checkpointPages: Int32 = LogWriter.checkpointPages
    ) throws(EventLogError) -> LogWriter {
        var chance = SplitMix64(seed: 1)
        let (engine, isNew) = try engine(checkpointPages: checkpointPages)
        return try LogWriter(
            FillingEngine(engine, fullness), isNew: isNew, retention: retention, chance: &chance)
    }

    func reader(_ damage: DamageList = DamageList()) throws(EventLogError) -> LogReader {
        try LogReader(reading(), damage: damage)
    }

    /// A log that the caller holds alone.
    func log(_ retention: LogRetention = .forever) throws(EventLogError) -> EngineEventLog {
        let (damage, writer) = (DamageList(), try writer(retention))
        return try EngineEventLog(
            writer,
            reading: LogReader(reading(), window: writer.window, damage: damage),
            looking: LogReader(reading(), window: writer.window, damage: damage), damage: damage,
            lastRun: nil, room: MemoryRoom(), closed: {})
    }

    func open() async throws -> any EventLog {
        await newest.withLock { $0.take() }?.close()
        let log = try log()
        newest.withLock { $0 = log }
        return log
    }

    /// What is deleted is out of no file, and no row.
    var keepsDeleted: Bool { schema != nil }

    /// From now on nothing can be committed, or all can.
    func setFull(_ isFull: Bool) { fullness.isFull.store(isFull, ordering: .relaxed) }

    // MARK: Its content

    func verify() throws(EventLogError) -> LogVerification.Verdict {
        try LogVerification(reading()).run { _ in }
    }

    func items() throws -> [LogItem] {
        var items: [LogItem] = []
        try LogExport(reading()).run { items.append($0) }
        return items
    }

    /// Takes items into the log, which is new; `abandoned` hears where they are refused.
    func take(_ items: [LogItem], abandoned: @escaping () -> Void = {}) throws(EventLogError) {
        let taking = try LogImport(writer(), finished: {}, abandoned: abandoned)
        for item in items { try taking.take(item) }
        try taking.finish()
    }

    /// All that the engine keeps: SQLite's files, the database first, or rows.
    func bytes() throws -> [[UInt8]] {
        if let directory {
            return ["", "-wal", "-shm"].map { fileBytes("\(directory)/tombolo.db\($0)") }
        }
        var rows: [[UInt8]] = []
        try reading().forEachRow { rows.append($2) }
        return rows
    }

    func has(_ text: String) throws -> Bool {
        try bytes().contains { $0.start(of: text) != nil }
    }

    /// Changes rows behind the log's back.
    func edit(_ body: (any LogWriting) throws -> Void) throws {
        let (engine, _) = try engine()
        try body(engine)
        try engine.commit()
        try schema?.forgetCommit()
    }

    /// Flips one bit in the middle of `marker`, which is in one row.
    func flipBit(at marker: String) throws {
        try edit { engine in
            var damaged: [(LogTable, Int64, [UInt8])] = []
            try engine.forEachRow { table, key, row in
                guard let start = row.start(of: marker) else { return }
                var row = row
                row[start + marker.utf8.count / 2] ^= 4
                damaged.append((table, key, row))
            }
            #expect(damaged.count == 1)
            for (table, key, row) in damaged { try engine.put(table, key, row) }
        }
    }
}

extension LogReading {
    func bytes(_ table: LogTable, _ key: Int64) throws(EventLogError) -> [UInt8]? {
        try row(table, key) { $1.array(from: 0) }
    }

    func keys(_ table: LogTable) throws(EventLogError) -> [Int64] {
        var keys: [Int64] = []
        try lengths(table, .min ... .max) { key, _ in
            keys.append(key)
            return true
        }
        return keys
    }

    /// All rows of all tables.
    func forEachRow(_ take: (LogTable, Int64, [UInt8]) -> Void) throws(EventLogError) {
        let sharded: [LogTable.Kind] = [.waypoint, .retired, .retiredName]
        for kind in LogTable.Kind.allCases {
            for shard in sharded.contains(kind) ? try shards(of: kind) : [0] {
                let table = LogTable(kind, shard)
                try scan(table) { key, row in
                    take(table, key, row.array(from: 0))
                    return true
                }
            }
        }
    }
}

extension LogWriting {
    func put(_ table: LogTable, _ key: Int64, _ row: [UInt8]) throws {
        try row.withUnsafeBytes { try put(table, key, $0) }
    }

    /// Puts zeros in place of a row, or where none is.
    func blank(_ table: LogTable, _ key: Int64, bytes: Int) throws {
        try put(table, key, [UInt8](repeating: 0, count: bytes))
    }
}
