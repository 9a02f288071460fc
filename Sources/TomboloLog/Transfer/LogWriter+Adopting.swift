import TomboloCore
import TomboloEventLog

// Methods to copy another log into this one.

extension LogWriter {
    /// Takes over the hash key (two words) and the restore time of another log. Call it before
    /// importing anything else.
    func adopt(_ hashKey: [UInt64], restoredAt: Instant?) throws(EventLogError) {
        try LogMeta.setHashKey(hashKey, engine)
        if let restoredAt { try LogMeta.setRestored(restoredAt, engine) }
        standing = Standing(hash: try LogMeta.hash(engine))
    }

    /// How far the wall clock was ahead at the event at `seq`; nil if no lead is known.
    func lead(event seq: Int64) -> Span? {
        let leads = retainer.cut.leads
        return leads.entries.isEmpty ? nil : leads.lead(.event, seq)
    }

    /// Makes an empty log begin where another log was cut.
    func begin(afterSeq seq: Int64, fact: Int64, activity: Int64) throws(EventLogError) {
        var cut = LogCut()
        (cut.seq, cut.fact, cut.activity) = (seq, fact, activity)
        try cut.store(engine)
        standing = Standing(after: ByKind(event: seq, fact: fact), hash: standing.hash)
        standing.positions.highest = activity
        retainer.cut = cut
    }

    /// Sets a tenant's counts, so that its next event and fact continue from there.
    func count(_ tenant: TenantID, event: Int64, fact: Int64) throws(EventLogError) {
        let number = standing.tenantTable.number(tenant)
        standing.seqs.begin(.event, number, after: event)
        standing.seqs.begin(.fact, number, after: fact)
        try rows.writeTenants(&standing)
        try rows.writeTallies(&standing)
        try engine.commit()
        standing.settle()
    }

    /// Sets the position of an activity whose events, up to the one at `position`, were cut.
    func adopt(
        _ activity: ActivityNumber, _ tenant: TenantID, _ position: ActivityPosition
    ) throws(EventLogError) {
        var position = position
        position.tenant = standing.tenantTable.number(tenant)
        standing.positions.recover(activity.rawValue, position)
        try rows.writeTenants(&standing)
    }

    /// Stores another log's snapshot of an activity. Returns false if `seq` is not the activity's
    /// newest event here.
    func keep(
        _ activity: ActivityNumber, _ value: [UInt8], at seq: Int64
    ) throws(EventLogError) -> Bool {
        let position = standing.positions.position(activity.rawValue)
        guard position.seq == seq else { return false }
        try rows.keep(ActivityHead(activity: activity, value: value), position)
        standing.positions.giveSnapshot(activity.rawValue)
        try engine.commit()
        standing.settle()
        return true
    }

    /// Deletes the rows of idempotency keys that no longer count, and makes the log durable in its
    /// permanent files.
    func complete() throws(EventLogError) {
        while rows.hasOldKeys(at: newest), cutIfDue().rows > 0 {}
        writeLaterHeads()
        if let failure { throw failure }
        try engine.commit()
        guard !engine.keepsDeleted else { return }
        guard try engine.scrub(waiting: 5_000) else {
            throw .unusable(
                cause: "another program reads the new log", hint: "end it, then import again")
        }
    }
}
