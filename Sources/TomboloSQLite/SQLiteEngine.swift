import CSQLite
import TomboloEventLog
import TomboloLog

/// The log's tables in one SQLite database: one table for each kind of row, and one for each day of
/// retired activities. For one thread at a time. Each statement is prepared once for each kind and
/// use.
final class SQLiteEngine: LogWriting {
    /// True if this object created the database.
    let isNew: Bool
    let connection: Connection
    private var prepared = [Prepared?](
        repeating: nil, count: LogTable.Kind.allCases.count * TableUse.count)
    /// Those of `prepared` that write to tables that always exist. With a plain pointer, a row
    /// costs no reference counting.
    private let writing: UnsafeMutablePointer<OpaquePointer?>
    /// Statements for the tables of the days.
    private var shards: [Shard: Prepared] = [:]
    private let begin: Statement
    private let commitment: Statement
    private let isWriter: Bool
    private let checkpointPages: Int32
    private let walPages: UnsafeMutablePointer<Int32>
    private var isOpen: Bool
    /// True while `take` runs: a statement that is running must not be started again.
    private var isHandingOver = false
    /// True if deleted data is still in the write-ahead log, which must then be truncated.
    private var owesTruncation = false

    private struct Shard: Hashable {
        var table: LogTable
        var use: TableUse
    }

    private final class Prepared {
        let statement: Statement
        init(_ statement: consuming Statement) { self.statement = statement }
    }

    /// Opens the database at `path` for reading. Throws if it is not Tombolo's, or has another
    /// schema. `vfs` names another file system of SQLite, for tests.
    convenience init(reading path: String, vfs: String? = nil) throws(EventLogError) {
        let connection = try Connection(path: path, access: .reading, vfs: vfs)
        try LogSchema.requireCurrent(connection)
        try self.init(connection, isWriter: false)
    }

    /// Opens the database at `path` for writing. If it is new, the first commit creates it.
    ///
    /// - Parameter isDraft: true if commits need not wait for the disk, because an incomplete log
    ///   need not survive a crash.
    convenience init(
        writing path: String, vfs: String? = nil, isDraft: Bool = false, checkpointPages: Int32
    ) throws(EventLogError) {
        let connection = try Connection(path: path, access: .writing, vfs: vfs)
        let isNew = try LogSchema.prepare(connection, isDraft: isDraft)
        try self.init(connection, isWriter: true, isNew: isNew, checkpointPages: checkpointPages)
    }

    private init(
        _ connection: consuming Connection, isWriter: Bool, isNew: Bool = false,
        checkpointPages: Int32 = 0
    ) throws(EventLogError) {
        begin = try connection.prepare(isWriter ? "BEGIN IMMEDIATE" : "BEGIN")
        commitment = try connection.prepare("COMMIT")
        (self.isWriter, self.isNew, isOpen) = (isWriter, isNew, isNew)
        self.checkpointPages = checkpointPages
        walPages = .allocate(capacity: 1)
        walPages.initialize(to: 0)
        writing = .allocate(capacity: Self.places)
        writing.initialize(repeating: nil, count: Self.places)
        if isWriter { connection.countWALPages(in: walPages) }
        self.connection = connection
    }

    private static let places = LogTable.Kind.allCases.count * LogPut.allCases.count

    deinit {
        walPages.deallocate()
        writing.deallocate()
    }

    // MARK: Statements

    /// Returns nil if it is the table of a day and does not exist.
    @inline(__always)
    private func statement(_ use: TableUse, _ table: LogTable) throws(EventLogError) -> Prepared? {
        precondition(!isHandingOver, "who is handed rows asks nothing")
        let index = table.kind.rawValue * TableUse.count + use.rawValue
        if !table.isByDay, let found = prepared[index] { return found }
        return try otherStatement(use, table, index)
    }

    private func otherStatement(
        _ use: TableUse, _ table: LogTable, _ index: Int
    ) throws(EventLogError) -> Prepared? {
        let shard = Shard(table: table, use: use)
        if table.isByDay {
            if let found = shards[shard] { return found }
            let count = "SELECT count(*) FROM sqlite_schema WHERE name = '\(table.name)'"
            guard try connection.integer(count) > 0 else { return nil }
        }
        let new = Prepared(try connection.prepare(use.sql(table)))
        if table.isByDay { shards[shard] = new } else { prepared[index] = new }
        return new
    }

    // MARK: Reading

    func atOneMoment<Answer>(
        _ body: () throws(EventLogError) -> Answer
    ) throws(EventLogError) -> Answer {
        guard connection.isIdle, !isWriter else { return try body() }
        try begin.execute()
        do throws(EventLogError) {
            let answer = try body()
            try commitment.execute()
            return answer
        } catch {
            // End the read; only the first error counts.
            if !connection.isIdle { try? commitment.execute() }
            throw error
        }
    }

    func row<Answer>(
        _ table: LogTable, _ key: Int64, _ take: (Int64, RawSpan) -> Answer?
    ) throws(EventLogError) -> Answer? {
        guard let found = try statement(.one, table) else { return nil }
        bind(key, table, found.statement)
        defer { found.statement.reset() }
        return try found.statement.step() ? take(key, found.statement.bytes(1).bytes) : nil
    }

    func scan(
        _ table: LogTable, _ ranges: [ClosedRange<Int64>], _ order: LogOrder,
        _ take: (Int64, RawSpan) throws(EventLogError) -> Bool
    ) throws(EventLogError) {
        var goesOn = true
        let use: TableUse = order == .rising ? .rising : .falling
        for keys in ranges where goesOn {
            try walk(keys.lowerBound == keys.upperBound ? .one : use, table, keys) {
                statement throws(EventLogError) in
                goesOn = try take(statement.integer(0), statement.bytes(1).bytes)
                return goesOn
            }
        }
    }

    func lengths(
        _ table: LogTable, _ keys: ClosedRange<Int64>, _ take: (Int64, Int64) -> Bool
    ) throws(EventLogError) {
        try walk(.lengths, table, keys) { take($0.integer(0), $0.integer(1)) }
    }

    private func walk(
        _ use: TableUse, _ table: LogTable, _ keys: ClosedRange<Int64>,
        _ take: (borrowing Statement) throws(EventLogError) -> Bool
    ) throws(EventLogError) {
        guard let found = try statement(use, table) else { return }
        isHandingOver = true
        if use == .one { bind(keys.lowerBound, table, found.statement) }
        if use != .one { bind(keys, table, found.statement) }
        defer {
            found.statement.reset()
            isHandingOver = false
        }
        while try found.statement.step() {
            guard try take(found.statement) else { return }
        }
    }

    private func bind(_ key: Int64, _ table: LogTable, _ statement: borrowing Statement) {
        statement.bind(key, at: 1)
        if table.kind == .waypoint { statement.bind(table.shard, at: 3) }
    }

    private func bind(
        _ keys: ClosedRange<Int64>, _ table: LogTable, _ statement: borrowing Statement
    ) {
        bind(keys.lowerBound, table, statement)
        statement.bind(keys.upperBound, at: 2)
    }

    func edge(
        _ table: LogTable, _ order: LogOrder, in keys: ClosedRange<Int64>
    ) throws(EventLogError) -> Int64? {
        guard let found = try statement(order == .rising ? .least : .greatest, table) else {
            return nil
        }
        bind(keys, table, found.statement)
        defer { found.statement.reset() }
        guard try found.statement.step(), !found.statement.isNull(0) else { return nil }
        return found.statement.integer(0)
    }

    func shards(of kind: LogTable.Kind) throws(EventLogError) -> [Int64] {
        let prefix = LogTable.prefix(kind)
        let rows = try connection.prepare(
            kind == .waypoint
                ? "SELECT DISTINCT shard FROM waypoint"
                : """
                SELECT substr(name, \(prefix.utf8.count + 1)) FROM sqlite_schema
                WHERE type = 'table' AND name GLOB '\(prefix)[0-9]*'
                """)
        var found: [Int64] = []
        while try rows.step() { found.append(rows.integer(0)) }
        // Another connection may have dropped other tables.
        if kind != .waypoint { shards = shards.filter { found.contains($0.key.table.shard) } }
        return found.sorted()
    }

    func fault() throws(EventLogError) -> String? {
        let check = try connection.prepare("PRAGMA quick_check(1)")
        let verdict = try check.step() ? String(decoding: check.bytes(0), as: UTF8.self) : ""
        return verdict == "ok" ? nil : "SQLite: \(verdict)"
    }

    // MARK: Writing

    func put(
        _ table: LogTable, _ key: Int64, _ row: UnsafeRawBufferPointer, over: LogPut
    ) throws(EventLogError) {
        guard isOpen, let handle = writing[Self.place(table, over)] else {
            return try putFirst(table, key, row, over)
        }
        sqlite3_bind_int64(handle, 1, key)
        sqlite3_bind_blob64(handle, 2, row.baseAddress, UInt64(row.count), nil)
        let code = sqlite3_step(handle)
        sqlite3_reset(handle)
        guard code == SQLITE_DONE else { throw .sqlite(sqlite3_db_handle(handle), connection.path) }
    }

    @inline(__always)
    private static func place(_ table: LogTable, _ over: LogPut) -> Int {
        table.kind.rawValue * LogPut.allCases.count + over.rawValue
    }

    private func putFirst(
        _ table: LogTable, _ key: Int64, _ row: UnsafeRawBufferPointer, _ over: LogPut
    ) throws(EventLogError) {
        try open()
        let use: TableUse =
            switch over {
            case .new: .insert
            case .changed: .change
            case .any: .replace
            }
        var found = try statement(use, table)
        if found == nil {
            try connection.execute(table.creation)
            found = try statement(use, table)
        }
        guard let found else { return }
        if !table.isByDay, table.kind != .waypoint {
            writing[Self.place(table, over)] = found.statement.handle
        }
        found.statement.bind(key, at: 1)
        found.statement.bind(row, at: 2)
        if table.kind == .waypoint { found.statement.bind(table.shard, at: 3) }
        try found.statement.execute()
    }

    func delete(
        _ table: LogTable, _ keys: ClosedRange<Int64>, isPersonal: Bool
    ) throws(EventLogError) {
        try open()
        guard let found = try statement(.delete, table) else { return }
        bind(keys, table, found.statement)
        if !isPersonal { try connection.execute("PRAGMA secure_delete = FAST") }
        let outcome = Result { () throws(EventLogError) in try found.statement.execute() }
        if !isPersonal { try connection.execute("PRAGMA secure_delete = ON") }
        try outcome.get()
    }

    func drop(_ table: LogTable) throws(EventLogError) {
        try open()
        shards = shards.filter { $0.key.table != table }
        try connection.execute("DROP TABLE IF EXISTS \(table.name)")
    }

    private func open() throws(EventLogError) {
        guard !isOpen else { return }
        do throws(EventLogError) { try begin.execute() } catch {
            guard sqlite3_errcode(sqlite3_db_handle(begin.handle)) == SQLITE_BUSY else {
                throw error
            }
            throw .unavailable(
                cause: "\(connection.path): another program locks the database for writing",
                hint: "end that program: fuser \(connection.path) names it; the relay tries again")
        }
        isOpen = true
    }

    func commit() throws(EventLogError) {
        guard isOpen else { return }
        try commitment.execute()
        isOpen = false
    }

    func rollBack() throws(EventLogError) {
        guard isOpen else { return }
        if !connection.isIdle { try connection.execute("ROLLBACK") }
        isOpen = false
        // Tables that the transaction created no longer exist.
        shards = [:]
    }

    // MARK: Between commits

    var isCheckpointDue: Bool { walPages.pointee > 0 && walPages.pointee >= checkpointPages }

    func checkpoint() throws(EventLogError) -> Bool {
        defer { walPages.pointee = 0 }
        return owesTruncation ? try scrub(waiting: 0) : try connection.checkpoint()
    }

    func scrub(waiting milliseconds: Int32) throws(EventLogError) -> Bool {
        owesTruncation = try !connection.checkpoint(truncating: milliseconds)
        return !owesTruncation
    }

    func leaveAsACrashWould() { connection.leaveWALOnClose() }
}
