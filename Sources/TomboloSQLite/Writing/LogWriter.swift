import CSQLite
package import TomboloCore
package import TomboloEventLog

/// The one connection that writes, with all that it knows; it does the checkpoints too (two
/// connections that do is a known way to corruption).
///
/// Synchronous, and for one thread at a time: whoever opens it hands it to the writer's thread and
/// forgets it. That is why it may claim to be sendable.
package final class LogWriter: @unchecked Sendable {
    /// A write-ahead log of this many pages is copied into the database: 32 MB. Below 4,062 its
    /// index needs one page of shared memory, which a full disk cannot refuse later.
    package static let checkpointPages: Int32 = 4_000

    let path: String
    private let checkpointPages: Int32
    let connection: Connection
    let begin: Statement
    let commit: Statement
    var hash: KeyedHash
    private let caution: LogCaution
    /// What was wrong before recovery looked.
    private let damage: [String]
    private let walPages: UnsafeMutablePointer<Int32>
    var rows: LogRows
    var standing: Standing
    var retainer: LogRetainer
    /// The tenant whose waypoints were looked at last.
    private var forgotten: Int64 = 0
    /// When the newest row was recorded, on the clock that nobody sets.
    private(set) var newest = Instant.distantPast
    private(set) var isRecovered = false
    private var hasBegun = false
    /// Why nothing is taken any more.
    var failure: EventLogError?
    /// What was erased stands in the write-ahead log still.
    var owesTruncation = false
    private var hasCutLeft = false
    /// The newest checkpoint was not whole: a reader needs what is in the write-ahead log.
    private var isWALHeld = false

    /// Opens or creates the database at `path`; `chance` gives a new one the key of its hash. `vfs`
    /// and `checkpointPages` are for tests.
    package init(
        path: String, vfs: String? = nil, checkpointPages: Int32 = LogWriter.checkpointPages,
        retention: LogRetention = .forever, caution: LogCaution = LogCaution(),
        chance: inout some RandomNumberGenerator
    ) throws(EventLogError) {
        self.path = path
        self.caution = caution
        self.checkpointPages = checkpointPages
        let key = [chance.next(), chance.next()] as [UInt64]
        do throws(SQLiteError) {
            connection = try Connection(path: path, access: .writing, vfs: vfs)
        } catch {
            throw error.unusable(path)
        }
        guard !connection.isReadOnly else {
            throw SQLiteError(code: SQLITE_READONLY).unusable(path)
        }
        try LogSchema.prepare(connection, path: path) { connection throws(SQLiteError) in
            try LogMeta.setHashKey(key, connection)
        }
        do throws(SQLiteError) {
            (hash, damage) = try Self.hash(connection, key)
            begin = try connection.prepare("BEGIN IMMEDIATE")
            commit = try connection.prepare("COMMIT")
            rows = try LogRows(connection)
        } catch {
            throw error.unusable(path)
        }
        standing = Standing(hash: hash)
        retainer = LogRetainer(retention)
        walPages = .allocate(capacity: 1)
        walPages.initialize(to: 0)
        connection.countWALPages(in: walPages)
    }

    deinit { walPages.deallocate() }

    /// A new one where the log's own cannot be read.
    private static func hash(
        _ connection: borrowing Connection, _ key: [UInt64]
    ) throws(SQLiteError) -> (KeyedHash, [String]) {
        do {
            return (try LogMeta.hash(connection), [])
        } catch  where error.primary == SQLITE_CORRUPT {
            // Their hashes are of the old key: start-up makes them anew from the events.
            try connection.execute("BEGIN IMMEDIATE; DELETE FROM keys")
            try LogMeta.setHashKey(key, connection)
            try connection.execute("COMMIT")
            let line =
                "the key of the hash of idempotency keys is damaged, and is made anew: an activity "
                + "that ended more than 24 hours ago is not found by its id, and a request for one "
                + "that was erased is stored again"
            return (try LogMeta.hash(connection), [line])
        }
    }

    /// Reads what lives, and takes its place there; needed before the first commit, which does it
    /// by itself where nobody asked.
    package func recover(idempotencySince: Instant) throws(EventLogError) -> RecoveredLog {
        if let failure { throw failure }
        do throws(SQLiteError) {
            var recovery = try LogRecovery(
                connection, hash: hash, since: idempotencySince, caution)
            recovery.note(damage)
            let last = TalliedUpTo(
                event: recovery.log.lastSeq, fact: recovery.log.lastFactSeq)
            try rows.recover(recovery.keys, recovery.later, after: last, connection)
            standing = recovery.standing(hash: hash)
            retainer.recover(recovery.cut, try FactSizes(connection))
            isRecovered = true
            try repair(recovery.repair, recovery.cut)
            return recovery.log
        } catch {
            throw error.unusable(path)
        }
    }

    /// Writes anew what was damaged and is known again.
    private func repair(_ repair: LogRecovery.Repair, _ cut: LogCut) throws(SQLiteError) {
        guard !repair.isEmpty else { return }
        try begin.execute()
        try connection.execute("DELETE FROM cut")
        try cut.store(connection)
        try cut.leads.store(connection)
        try rows.writeLater(standing, connection)
        for (number, name) in repair.tenants { try rows.put(number, name) }
        try rows.put(repair.keys, connection)
        try commit.execute()
        rows.settleLater()
    }

    // MARK: Committing

    /// Stores `batches` in one transaction, durable on return; one answer for each. A batch that is
    /// refused leaves the others as they are.
    ///
    /// - Parameter imported: the places that the batch's events have among those of their tenants,
    ///   in an import; its heads may follow later.
    package func store(
        _ batches: some Sequence<AppendBatch>, as imported: ImportedPlaces? = nil
    ) -> [Result<AppendReceipt, EventLogError>] {
        if failure == nil, !isRecovered { recoverUnasked() }
        if let failure { return batches.map { _ in .failure(failure) } }
        let start = standing.savepoint
        let retainerBefore = retainer
        do throws(SQLiteError) {
            var answers: [Result<AppendReceipt, EventLogError>] = []
            for batch in batches { answers.append(try store(batch, imported)) }
            if hasBegun { try commit.execute() }
            hasBegun = false
            standing.settle()
            rows.settle()
            return answers
        } catch {
            retainer = retainerBefore
            let answer = abandon(error, back: start)
            return batches.map { _ in .failure(answer) }
        }
    }

    private func recoverUnasked() {
        do throws(EventLogError) { _ = try recover(idempotencySince: .distantPast) } catch {
            failure = error
        }
    }

    private func store(
        _ batch: AppendBatch, _ imported: ImportedPlaces?
    ) throws(SQLiteError) -> Result<AppendReceipt, EventLogError> {
        let receipt: AppendReceipt
        do throws(EventLogError) {
            let tenants = standing.tenantTable
            receipt = try standing.place(batch, as: imported) {
                inTime(of: batch, rows.event($0, tenants: tenants), $0)
            } anchor: {
                rows.anchor($0)
            } retired: { activity in
                // Not found and not readable are one here: the version will not agree.
                try? RetiredDays.find(activity, connection)
            }
        } catch {
            return .failure(error)
        }
        guard !batch.isEmpty else { return .success(receipt) }
        if !hasBegun { try begin.execute() }
        hasBegun = true
        if let lead = batch.lead { try retainer.note(lead, at: receipt, connection) }
        try rows.write(
            batch, at: receipt, &standing,
            slack: imported == nil ? .zero : KeyChapter.Maker.slack, connection)
        for (chapter, bytes) in rows.filled { retainer.count(chapter, bytes) }
        let lead = batch.lead ?? retainer.cut.leads.now
        for recordedAt in [batch.events.last?.recordedAt, batch.facts.last?.recordedAt] {
            if let recordedAt { newest = max(newest, recordedAt - lead) }
        }
        return .success(receipt)
    }

    /// An event of before as if the wall clock had been then what it is in a batch: ages are
    /// counted on the clock that nobody sets.
    private func inTime(of batch: AppendBatch, _ event: NewEvent?, _ seq: Int64) -> NewEvent? {
        guard let lead = batch.lead, var event else { return event }
        event.recordedAt = event.recordedAt - retainer.cut.leads.lead(event: seq) + lead
        return event
    }

    /// What a failed transaction means to those whose batches were in it. A full disk is met before
    /// the commit's last page is written, and what was written before does not count: nothing is
    /// stored. Of any other error nobody can say (a failed fsync may have written or dropped
    /// anything): nothing is taken any more.
    func abandon(_ error: SQLiteError, back start: Standing.Savepoint) -> EventLogError {
        if error.primary == SQLITE_FULL, rollBack(to: start) {
            return .full(
                hint: "free some space on the file system of \(path): events are taken again then")
        }
        let unknown = EventLogError.outcomeUnknown(cause: "\(path): \(error.cause)")
        failure = unknown
        return unknown
    }

    func rollBack(to start: Standing.Savepoint) -> Bool {
        do throws(SQLiteError) {
            if !connection.isIdle { try connection.execute("ROLLBACK") }
            hasBegun = false
            standing.rollBack(to: start)
            let maker = KeyChapter.Maker(hash: hash, leads: retainer.cut.leads)
            try rows.rolledBack(after: standing.last, maker, connection)
            return true
        } catch {
            return false
        }
    }

    // MARK: Between commits

    /// Gives the heads that wait their rows: when they are many, before a checkpoint, and before
    /// the log is closed. A full disk is left to the next commit; after any other error nothing is
    /// taken any more.
    package func writeLaterHeads() {
        guard failure == nil, !rows.later.isEmpty else { return }
        do throws(SQLiteError) {
            try begin.execute()
            try rows.writeLater(standing, connection)
            try commit.execute()
            rows.settleLater()
        } catch {
            if error.primary == SQLITE_FULL, rollBack(to: standing.savepoint) { return }
            failure = .outcomeUnknown(cause: "\(path): \(error.cause)")
        }
    }

    /// Copies a long write-ahead log into the database, after those who wait have their answers. A
    /// full disk is left to the next commit; after any other error nothing is taken any more.
    package func checkpointIfDue() {
        if rows.later.areMany { writeLaterHeads() }
        guard failure == nil, walPages.pointee > 0, walPages.pointee >= checkpointPages else {
            return
        }
        writeLaterHeads()
        guard failure == nil else { return }
        do throws(SQLiteError) {
            if owesTruncation {
                owesTruncation = try !connection.truncateWAL(waiting: 0)
            } else {
                isWALHeld = try !connection.checkpoint()
            }
            walPages.pointee = 0
        } catch  where error.primary == SQLITE_FULL {
            walPages.pointee = 0
        } catch {
            failure = .outcomeUnknown(cause: "\(path): \(error.cause)")
        }
    }

    /// Cuts a piece of what is too old, in a transaction of its own, and answers what went. A full
    /// disk is left to the next commit; after any other error nothing is taken any more.
    @discardableResult
    package func cutIfDue() -> CutPiece {
        hasCutLeft = false
        guard failure == nil, isRecovered else { return CutPiece() }
        guard rows.hasOldKeys(at: newest) || retainer.isDue(newest) else {
            rows.settleCut()
            return CutPiece()
        }
        let before = retainer
        do throws(SQLiteError) {
            try begin.execute()
            // Rows that nobody has counted yet may be among those that go.
            if standing.seqs.mayBeCut(retainer.cut, of: standing.last) {
                try rows.writeTallies(&standing)
            }
            let (piece, wroteHeads) = try retainer.cutPiece(
                at: newest, standing, &rows, connection)
            let tenant = try Waypoint.forget(
                before: retainer.cut, from: forgotten, of: standing.highestTenant, connection)
            try commit.execute()
            forgotten = tenant
            standing.seqs.settle()
            if wroteHeads { rows.settleLater() }
            rows.settleCut()
            hasCutLeft = piece.goesOn
            return piece
        } catch {
            retainer = before
            if error.primary == SQLITE_FULL, rollBack(to: standing.savepoint) { return CutPiece() }
            failure = .outcomeUnknown(cause: "\(path): \(error.cause)")
            return CutPiece()
        }
    }

    /// Whether a piece of a cut is due although others wait: else what comes outruns what goes.
    var owesCut: Bool { rows.allowance.isOwed }

    /// Whether the next piece of a cut may go at once, where nobody waits. Not while somebody reads
    /// all of the log: what is written is then kept beside the database.
    var goesOnCutting: Bool { hasCutLeft && !isWALHeld && failure == nil }

    /// Leaves the write-ahead log as a crash would.
    package func leaveWALOnClose() { connection.leaveWALOnClose() }
}
