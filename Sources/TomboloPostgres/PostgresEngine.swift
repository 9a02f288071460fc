#if Postgres
import Glibc
import TomboloEventLog
import TomboloLog

/// The log's tables for the only writer. It collects the changes of a transaction and sends them in
/// one round trip, from `BEGIN` to `COMMIT`. The owner's row protects them from other writers.
final class PostgresEngine: PostgresReader, LogWriting {
    let lease: PostgresLease
    private var pending: [LogTable: PendingRows] = [:]
    /// Number of the log's newest transaction.
    private(set) var batch: Int64
    /// True if this engine exists to mark the log as restored. Then it does not check whether
    /// somebody else did.
    let isRestoring: Bool

    /// The lease ends when the last reference to it is gone.
    init(
        _ lease: PostgresLease, _ database: PostgresDatabase, isRestoring: Bool = false
    ) throws(EventLogError) {
        (self.lease, self.isRestoring) = (lease, isRestoring)
        let connection = try PostgresConnection(
            database, name: lease.writerName, lease.patience)
        let newest = try connection.ask("SELECT max(key) FROM \(database.quotedSchema).batch")
        batch = newest.integer(0, 0)
        guard !newest.isNull(0, 0), 0...LogTable.numberMax ~= batch else {
            throw database.refused(
                "has no transaction of the log in its table batch",
                "restore a backup, or import an export into a new schema")
        }
        super.init(connection, name: lease.writerName)
    }

    // MARK: Asking

    /// Repeats a query that got no answer, however long the server is unreachable.
    override func ask(
        _ questions: [PostgresQuestion]
    ) throws(EventLogError) -> [PostgresAnswer] {
        var tries = 0
        while true {
            do throws(PostgresError) { return try connection.answers(questions) } catch {
                _ = try isStored(error, &tries)
            }
        }
    }

    /// As this is the only writer, nothing changes while `body` runs.
    override func atOneMoment<Answer>(
        _ body: () throws(EventLogError) -> Answer
    ) throws(EventLogError) -> Answer { try body() }

    override func renew() -> Bool { false }

    // MARK: Reading pending rows

    override func rows(
        _ table: LogTable, _ keys: [Int64], _ take: (Int64, RawSpan) -> Bool
    ) throws(EventLogError) {
        guard let changed = pending[table] else { return try super.rows(table, keys, take) }
        let others = keys.filter { changed.row($0) == nil }
        var found: [Int64: [UInt8]] = [:]
        if !others.isEmpty {
            try super.rows(table, others) { key, row in
                found[key] = row.withUnsafeBytes { Array($0) }
                return true
            }
        }
        for key in keys {
            let row = if let row = changed.row(key) { row } else { found[key].map { $0[...] } }
            guard let row else { continue }
            guard take(key, row.span.bytes) else { return }
        }
    }

    override func everyShard(
        _ kind: LogTable.Kind, _ keys: [Int64], _ take: (Int64, Int64, RawSpan) -> Bool
    ) throws(EventLogError) {
        guard pending.keys.contains(where: { $0.kind == kind }) else {
            return try super.everyShard(kind, keys, take)
        }
        let new = pending.keys.filter { $0.kind == kind }.map(\.shard)
        for shard in Set(try shards(of: kind) + new).sorted(by: >) {
            var goesOn = true
            try rows(LogTable(kind, shard), keys) { key, row in
                goesOn = take(shard, key, row)
                return goesOn
            }
            guard goesOn else { return }
        }
    }

    // MARK: Writing

    func put(
        _ table: LogTable, _ key: Int64, _ row: UnsafeRawBufferPointer, over: LogPut
    ) throws(EventLogError) {
        pending[table, default: PendingRows()].put(key, row, over == .new ? .new : .any)
    }

    /// The server's files keep deleted data for a while: see `keepsDeleted`.
    func delete(
        _ table: LogTable, _ keys: ClosedRange<Int64>, isPersonal: Bool
    ) throws(EventLogError) { pending[table, default: PendingRows()].delete(keys) }

    func drop(_ table: LogTable) throws(EventLogError) {
        try delete(table, .min ... .max, isPersonal: true)
    }

    func rollBack() throws(EventLogError) {
        pending = [:]
        rollBackHere()
    }

    /// If this fails, the connection is lost, and the server rolls back.
    private func rollBackHere() { if !connection.isLost { try? connection.rollBack() } }

    func commit() throws(EventLogError) {
        guard !pending.isEmpty else { return }
        let began = lease.figures.clock()
        let questions = transaction
        var tries = 0
        while true {
            let start = lease.trust.clock()
            do throws(PostgresError) {
                try send(questions)
                lease.trust.renew(from: start)
                break
            } catch {
                if try isStored(error, &tries) { break }
            }
        }
        batch += 1
        pending = [:]
        lease.figures.note(lease.figures.clock() - began)
    }

    private func send(_ questions: [PostgresQuestion]) throws(PostgresError) {
        let answers = try connection.answers(questions)
        // The server only warns if the wait for the standby was interrupted. After an error COMMIT
        // does nothing, which only its tag tells.
        guard connection.warning == nil, answers.last?.tag == "COMMIT" else {
            throw PostgresError(message: connection.warning ?? "COMMIT did not commit")
        }
    }

    /// How often a transaction is sent again at once after an error that may pass, and the pause
    /// before the first of them. The last one comes after a second.
    private static let (triesMax, pause): (Int, Int32) = (10, 20)

    /// Finds out whether the transaction that failed is stored. If not, it is to be sent again at
    /// once. Throws `.full` or `.unavailable` if nothing is stored and a later try is better.
    private func isStored(
        _ error: PostgresError, _ tries: inout Int
    ) throws(EventLogError) -> Bool {
        switch isWeak(error) || isTwice(error) ? .unknown : error.meaning {
        case .unknown: return try settle(after: error)
        case .again where tries < Self.triesMax:
            tries += 1
            rollBackHere()
            poll(nil, 0, Self.pause * Int32(tries))
            return false
        case .again, .full, .refused:
            rollBackHere()
            guard error.state == PostgresError.State.divisionByZero,
                error.place == Self.fencePlace
            else { throw error.refusal(connection.database) }
            throw wentBack()
        }
    }

    /// True if the server no longer has the required durability. Then the transaction did nothing.
    private func isWeak(_ error: PostgresError) -> Bool {
        durability != nil && error.state == PostgresError.State.divisionByZero
            && error.place == Self.fencePlace + 1
    }

    /// True if the number of the transaction exists: it was stored before.
    private func isTwice(_ error: PostgresError) -> Bool {
        error.state == PostgresError.State.uniqueViolation
            && error.place == Self.fencePlace + (durability == nil ? 1 : 2)
    }

    /// A statement that fails if commits do not wait for a standby; nil if no standby is required.
    var durability: PostgresQuestion? {
        guard connection.database.durability == .standby else { return nil }
        return PostgresQuestion(
            "SELECT 1 / (current_setting('synchronous_standby_names') <> '')::int4")
    }

    private static let fencePlace = 1
    /// How many of the newest transactions' numbers are kept, to look up whether one was stored.
    private static let batchesKept: Int64 = 1_000

    /// The statements of the open transaction. The first one fails, so that nothing is done, if
    /// another relay owns the row or if the log's newest transaction is not this engine's.
    private var transaction: [PostgresQuestion] {
        var fence = PostgresValues(batch, lease.epoch)
        fence.add(lease.holder)
        var questions = [
            PostgresQuestion("BEGIN"),
            PostgresQuestion(
                """
                SELECT 1 / count(*) FROM (
                    SELECT 1 FROM \(schema).owner o JOIN \(schema).batch b ON b.key = $1::int8
                    WHERE o.epoch = $2::int8 AND o.holder = $3::text FOR KEY SHARE OF o) x
                """, fence),
        ]
        if let durability { questions.append(durability) }
        questions.append(
            PostgresQuestion(
                "INSERT INTO \(schema).batch VALUES ($1::int8)", PostgresValues(batch + 1)))
        if batch % Self.batchesKept == 0 {
            questions.append(
                PostgresQuestion(
                    "DELETE FROM \(schema).batch WHERE key < $1::int8",
                    PostgresValues(batch - Self.batchesKept)))
        }
        for (table, rows) in pending.sorted(by: { Self.order($0.key) < Self.order($1.key) }) {
            for stage in rows.stages { add(stage, table, to: &questions) }
        }
        return questions + [PostgresQuestion("COMMIT")]
    }

    private static func order(_ table: LogTable) -> (Int, Int64) {
        (table.kind.rawValue, table.shard)
    }

    private func add(
        _ stage: PendingRows.Stage, _ table: LogTable, to questions: inout [PostgresQuestion]
    ) {
        func add(_ use: PostgresUse, _ values: PostgresValues) {
            var values = values
            if table.isSharded { values.add(table.shard) }
            questions.append(PostgresQuestion(table.sql(use, in: schema), values))
        }
        if let range = stage.deleted {
            add(.deleteRange, PostgresValues(range.lowerBound, range.upperBound))
        }
        for (form, use) in [(PendingRows.Stage.Form.new, PostgresUse.insert), (.any, .replace)] {
            let (keys, rows) = stage.written(form)
            guard !keys.isEmpty else { continue }
            var values = PostgresValues()
            values.add(keys)
            values.add(rows)
            add(use, values)
        }
        let (gone, _) = stage.written(.deleted)
        guard !gone.isEmpty else { return }
        var values = PostgresValues()
        values.add(gone)
        add(.delete, values)
    }

    // MARK: Between commits

    /// The server's own autovacuum and checkpoints suffice.
    var isCheckpointDue: Bool { false }
    func checkpoint() throws(EventLogError) -> Bool { true }
    var keepsDeleted: Bool { true }
    func scrub(waiting milliseconds: Int32) throws(EventLogError) -> Bool { false }

    func leaveAsACrashWould() { lease.leaveAsACrashWould() }
}
#endif
