package import TomboloCore
package import TomboloEventLog

/// The log's only writer, with all that it knows. It does the engine's checkpoints too.
///
/// Synchronous, and for one thread at a time: who opens it hands it to the writer's thread and
/// forgets it. That is why it may claim to be sendable.
package final class LogWriter: @unchecked Sendable {
    let engine: any LogWriting
    private let caution: LogCaution
    /// What was wrong before recovery looked.
    private let damage: [String]
    var rows: LogRows
    var standing: Standing
    var retainer: LogRetainer
    /// What readers need not ask the engine.
    package let window = LogWindow()
    /// The tenant whose waypoints were looked at last.
    private var forgotten: Int64 = 0
    /// When the newest row was recorded, on the clock that nobody sets.
    private(set) var newest = Instant.distantPast
    private(set) var isRecovered = false
    /// Why nothing is taken any more.
    var failure: EventLogError?
    private var hasCutLeft = false
    /// A reader held up the newest checkpoint.
    private var isWALHeld = false

    /// - Parameters:
    ///   - isNew: the engine stores nothing yet, and the first commit makes its tables.
    ///   - chance: gives a new log the key of its hash.
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

    /// Stores `key` where the log's own cannot be read, and answers what that means.
    private static func makeHashKey(
        _ key: [UInt64], _ engine: any LogWriting
    ) throws(EventLogError) -> [String] {
        guard try LogMeta.hashKey(engine) == nil else { return [] }
        // Their hashes are of the old key: start-up makes them anew from the events.
        try engine.delete(.keys, .min ... .max, isPersonal: false)
        try LogMeta.setHashKey(key, engine)
        try engine.commit()
        return [
            "the key of the hash of idempotency keys is damaged, and is made anew: an activity "
                + "that ended more than 24 hours ago is not found by its id, and a request for one "
                + "that was erased is stored again"
        ]
    }

    /// Reads what lives, and takes its place there; needed before the first commit, which does it
    /// by itself where nobody asked.
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

    /// Writes anew what was damaged and is known again.
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
                // Not found and not readable are one here: the version will not agree.
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

    /// An event of before as if the wall clock had been then what it is in a batch: ages are
    /// counted on the clock that nobody sets.
    private func inTime(of batch: AppendBatch, _ event: NewEvent?, _ seq: Int64) -> NewEvent? {
        guard let lead = batch.lead, var event else { return event }
        event.recordedAt = event.recordedAt - retainer.cut.leads.lead(.event, seq) + lead
        return event
    }

    /// What a failed transaction means to those whose batches were in it. A full disk is met before
    /// the commit's last page is written, and what was written before does not count: nothing is
    /// stored. Of any other error nobody can say (a failed fsync may have written or dropped
    /// anything): nothing is taken any more.
    func abandon(_ error: EventLogError, back start: Standing.Savepoint) -> EventLogError {
        let unknown = EventLogError.outcomeUnknown(cause: Self.cause(of: error))
        do throws(EventLogError) {
            guard case .full = error else { throw error }
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

    private static func cause(of error: EventLogError) -> String {
        switch error {
        case .unusable(let cause, _), .outcomeUnknown(let cause): cause
        default: "\(error)"
        }
    }

    // MARK: Between commits

    /// Gives the heads that wait their rows: when they are many, before a checkpoint, and before
    /// the log is closed. A full disk is left to the next commit; after any other error nothing is
    /// taken any more.
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

    /// Does the engine's checkpoint where it is due, after those who wait have their answers. A
    /// full disk is left to the next commit; after any other error nothing is taken any more.
    package func checkpointIfDue() {
        if rows.later.areMany { writeLaterHeads() }
        guard failure == nil, engine.isCheckpointDue else { return }
        writeLaterHeads()
        guard failure == nil else { return }
        do throws(EventLogError) { isWALHeld = try !engine.checkpoint() } catch {
            if case .full = error { return }
            failure = .outcomeUnknown(cause: Self.cause(of: error))
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
        do throws(EventLogError) {
            // Rows that nobody has counted yet may be among those that go.
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

    /// Whether a piece of a cut is due although others wait: else what comes outruns what goes.
    var owesCut: Bool { rows.allowance.isOwed }

    /// Whether the next piece of a cut may go at once, where nobody waits. Not while somebody reads
    /// all of the log: the engine then keeps all that is written for that reader.
    var goesOnCutting: Bool { hasCutLeft && !isWALHeld && failure == nil }

    /// Closing leaves all as a crash would.
    package func leaveWALOnClose() { engine.leaveAsACrashWould() }
}
