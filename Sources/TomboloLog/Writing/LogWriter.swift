package import TomboloCore
package import TomboloEventLog

/// The log's only writer, with its state. It also runs the engine's checkpoints.
///
/// Synchronous, for one thread at a time. It is sendable because its creator passes it to the
/// writer's thread and keeps no reference.
package final class LogWriter: @unchecked Sendable {
    let engine: any LogWriting
    private let caution: LogCaution
    /// Damage found before recovery.
    private let damage: [String]
    var rows: LogRows
    var standing: Standing
    var retainer: LogRetainer
    /// The newest rows and the log's state, for readers.
    package let window = LogWindow()
    /// The last tenant whose waypoints were examined (`Waypoint.forget`).
    private var forgotten: Int64 = 0
    /// Time of the newest row on the steady clock.
    private(set) var newest = Instant.distantPast
    private(set) var isRecovered = false
    /// Why the writer accepts no more batches; nil if it works.
    var failure: EventLogError?
    private var hasCutLeft = false
    /// True if a reader prevented the last checkpoint.
    private var isWALHeld = false

    /// - Parameters:
    ///   - isNew: true if the engine stores nothing yet; the first commit creates its tables.
    ///   - chance: makes the hash key of a new log.
    package init(
        _ engine: any LogWriting, isNew: Bool, retention: LogRetention = .forever,
        caution: LogCaution = LogCaution(), chance: inout some RandomNumberGenerator
    ) throws(EventLogError) {
        self.engine = engine
        self.caution = caution
        let key = [chance.next(), chance.next()] as [UInt64]
        if isNew { try LogMeta.setHashKey(key, engine) }
        try engine.commit()
        damage = try Self.makeHashKey(key, engine)
        rows = LogRows(engine)
        standing = Standing(hash: try LogMeta.hash(engine))
        retainer = LogRetainer(retention)
    }

    /// If the log's hash key is not readable, stores `key` instead. Returns lines on the effects.
    private static func makeHashKey(
        _ key: [UInt64], _ engine: any LogWriting
    ) throws(EventLogError) -> [String] {
        guard try LogMeta.hashKey(engine) == nil else { return [] }
        // Rows of idempotency keys have hashes made with the old key. Start-up rebuilds them from
        // the events.
        try engine.delete(.keys, .min ... .max, isPersonal: false)
        try LogMeta.setHashKey(key, engine)
        try engine.commit()
        return [
            "the key of the hash of idempotency keys is damaged, and is made again: an activity "
                + "that ended more than 24 hours ago is not found by its id, and a request for one "
                + "that was erased is stored again"
        ]
    }

    /// Reads the state of the log. It must precede the first commit; `store` calls it if needed.
    package func recover(idempotencySince: Instant) throws(EventLogError) -> RecoveredLog {
        if let failure { throw failure }
        let recovery = try LogRecovery(
            engine, hash: standing.hash, since: idempotencySince, damage: damage, caution)
        standing = recovery.standing
        try rows.recover(recovery)
        retainer.cut = recovery.cut
        retainer.count(try FactSizes(engine))
        isRecovered = true
        try repair(recovery.repair, recovery.cut)
        window.begin(committed, standing.tenantTable)
        return recovery.log
    }

    /// Rewrites damaged rows whose values were recovered.
    private func repair(_ repair: LogRecovery.Repair, _ cut: LogCut) throws(EventLogError) {
        guard !repair.isEmpty else { return }
        try engine.delete(.cut, .min ... .max, isPersonal: false)
        try cut.store(engine)
        try cut.leads.store(engine)
        try rows.writeLater(standing)
        for (number, name) in repair.tenants { try rows.put(number, name) }
        try rows.put(repair.keys)
        try engine.commit()
        rows.settleLater()
    }

    // MARK: Committing

    /// Stores `batches` in one transaction, which is durable on return. Returns one result for each
    /// batch. A refused batch does not affect the others.
    ///
    /// - Parameter imported: for an import, the places of the batch's events and facts among their
    ///   tenants' rows; then heads may follow in later batches.
    package func store(
        _ batches: some Sequence<AppendBatch>, as imported: ImportedPlaces? = nil
    ) -> [Result<AppendReceipt, EventLogError>] {
        if failure == nil, !isRecovered { recoverUnasked() }
        if let failure { return batches.map { _ in .failure(failure) } }
        let start = standing.savepoint
        let retainerBefore = retainer
        rows.newest = window.isWanted ? (NewestRows.Piece(), NewestRows.Piece()) : nil
        do throws(EventLogError) {
            var answers: [Result<AppendReceipt, EventLogError>] = []
            for batch in batches { answers.append(try store(batch, imported)) }
            try engine.commit()
            standing.settle()
            rows.settle()
            window.add(rows.newest, standing.tenantTable, committed)
            return answers
        } catch {
            retainer = retainerBefore
            let answer = abandon(error, back: start)
            return batches.map { _ in .failure(answer) }
        }
    }

    private var committed: CommittedLog {
        var log = CommittedLog()
        let last = standing.last
        (log.event, log.fact) = (last.event, last.fact)
        (log.cut, log.factCut) = (retainer.cut.seq, retainer.cut.fact)
        log.heads = rows.heads
        log.tenants = standing.highestTenant
        log.isSole = standing.isSole
        return log
    }

    private func recoverUnasked() {
        do throws(EventLogError) { _ = try recover(idempotencySince: .distantPast) } catch {
            failure = error
        }
    }

    private func store(
        _ batch: AppendBatch, _ imported: ImportedPlaces?
    ) throws(EventLogError) -> Result<AppendReceipt, EventLogError> {
        let receipt: AppendReceipt
        do throws(EventLogError) {
            let tenants = standing.tenantTable
            receipt = try standing.place(batch, as: imported) {
                inTime(of: batch, rows.event($0, tenants: tenants), $0)
            } anchor: {
                rows.anchor($0)
            } retired: { activity in
                // A row that cannot be read counts as missing: then the version does not match.
                try? RetiredDays.find(activity, engine)
            }
        } catch {
            return .failure(error)
        }
        guard !batch.isEmpty else { return .success(receipt) }
        if let lead = batch.lead { try retainer.note(lead, at: receipt, engine) }
        try rows.write(
            batch, at: receipt, &standing,
            slack: imported == nil ? .zero : KeyChapter.Maker.slack)
        for (chapter, bytes) in rows.filled { retainer.count(chapter, bytes) }
        let lead = batch.lead ?? retainer.cut.leads.now
        for recordedAt in [batch.events.last?.recordedAt, batch.facts.last?.recordedAt] {
            if let recordedAt { newest = max(newest, recordedAt - lead) }
        }
        return .success(receipt)
    }

    /// Converts an earlier event's time to the wall clock as it was at this batch, because ages are
    /// measured on the steady clock.
    private func inTime(of batch: AppendBatch, _ event: NewEvent?, _ seq: Int64) -> NewEvent? {
        guard let lead = batch.lead, var event else { return event }
        event.recordedAt = event.recordedAt - retainer.cut.leads.lead(.event, seq) + lead
        return event
    }

    /// Returns the error for the batches of a failed transaction. If the disk is full or the engine
    /// refuses, nothing was stored: the engine reports that only before its commit. After any other
    /// error the outcome is unknown (a failed fsync may have written or dropped anything), unless
    /// another relay owns the log. Then the writer accepts no more batches.
    func abandon(_ error: EventLogError, back start: Standing.Savepoint) -> EventLogError {
        let unknown = Self.lasting(error)
        do throws(EventLogError) {
            guard error.mayPass else { throw error }
            try engine.rollBack()
            standing.rollBack(to: start)
            let maker = KeyChapter.Maker(hash: standing.hash, leads: retainer.cut.leads)
            try rows.rolledBack(after: standing.last, maker)
            return error
        } catch {
            failure = unknown
            return unknown
        }
    }

    private static func lasting(_ error: EventLogError) -> EventLogError {
        switch error {
        case .owned, .outcomeUnknown: error
        case .unusable(let cause, _): .outcomeUnknown(cause: cause)
        default: .outcomeUnknown(cause: "\(error)")
        }
    }

    // MARK: Between commits

    /// Writes the delayed heads. This is done when they are many, before a checkpoint, and before
    /// closing. If the disk is full, the next commit reports it. After any other error the writer
    /// accepts no more batches.
    package func writeLaterHeads() {
        guard failure == nil, !rows.later.isEmpty else { return }
        do throws(EventLogError) {
            try rows.writeLater(standing)
            try engine.commit()
            rows.settleLater()
        } catch {
            _ = abandon(error, back: standing.savepoint)
        }
    }

    /// Runs the engine's checkpoint if it is due. Call it after waiting callers got their answers.
    /// If the disk is full, the next commit reports it. After any other error the writer accepts no
    /// more batches.
    package func checkpointIfDue() {
        if rows.later.areMany { writeLaterHeads() }
        guard failure == nil, engine.isCheckpointDue else { return }
        writeLaterHeads()
        guard failure == nil else { return }
        do throws(EventLogError) { isWALHeld = try !engine.checkpoint() } catch {
            if !error.mayPass { failure = Self.lasting(error) }
        }
    }

    /// Cuts a piece of old rows in its own transaction, and returns the amount. If the disk is
    /// full, the next commit reports it. After any other error the writer accepts no more batches.
    @discardableResult
    package func cutIfDue() -> CutPiece {
        hasCutLeft = false
        guard failure == nil, isRecovered else { return CutPiece() }
        guard rows.hasOldKeys(at: newest) || retainer.isDue(newest) else {
            rows.settleCut()
            return CutPiece()
        }
        let before = retainer
        do throws(EventLogError) {
            // The piece may delete rows that the table `tally` does not count yet: update it first.
            if standing.seqs.mayBeCut(retainer.cut, of: standing.last) {
                try rows.writeTallies(&standing)
            }
            let (piece, wroteHeads) = try retainer.cutPiece(
                at: newest, standing, &rows, engine)
            let tenant = try Waypoint.forget(
                before: retainer.cut, from: forgotten, of: standing.highestTenant, standing.seqs,
                engine)
            if (retainer.cut.seq, retainer.cut.fact) != (before.cut.seq, before.cut.fact) {
                window.cut(retainer.cut)
            }
            try engine.commit()
            forgotten = tenant
            standing.seqs.settle()
            if wroteHeads { rows.settleLater() }
            rows.settleCut()
            hasCutLeft = piece.goesOn
            return piece
        } catch {
            retainer = before
            window.cut(before.cut)
            _ = abandon(error, back: standing.savepoint)
            return CutPiece()
        }
    }

    /// True if a piece of a cut is due even while batches wait. Otherwise rows would be added
    /// faster than deleted.
    var owesCut: Bool { rows.allowance.isOwed }

    /// True if the next piece of a cut may run at once while no batch waits. False while a reader
    /// reads the whole log, because the engine keeps all writes for that reader.
    var goesOnCutting: Bool { hasCutLeft && !isWALHeld && failure == nil }

    /// For tests: closing the engine will leave its files as a crash would.
    package func leaveWALOnClose() { engine.leaveAsACrashWould() }
}
