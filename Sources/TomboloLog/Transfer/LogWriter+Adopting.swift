import TomboloCore
import TomboloEventLog

// Taking in another log.

extension LogWriter {
    /// The log's hashes are made with another one's key, its two words, and it counts as put back
    /// when that one was. Before anything else is taken in.
    func adopt(_ hashKey: [UInt64], restoredAt: Instant?) throws(EventLogError) {
        try LogMeta.setHashKey(hashKey, engine)
        if let restoredAt { try LogMeta.setRestored(restoredAt, engine) }
        standing = Standing(hash: try LogMeta.hash(engine))
    }

    /// By how much the wall clock was ahead when the event at `seq` came; nil where nobody knows.
    func lead(event seq: Int64) -> Span? {
        let leads = retainer.cut.leads
        return leads.entries.isEmpty ? nil : leads.lead(.event, seq)
    }

    /// An empty log goes on after what another one had cut.
    func begin(afterSeq seq: Int64, fact: Int64, activity: Int64) throws(EventLogError) {
        var cut = LogCut()
        (cut.seq, cut.fact, cut.activity) = (seq, fact, activity)
        try cut.store(engine)
        standing = Standing(after: ByKind(event: seq, fact: fact), hash: standing.hash)
        standing.marks.highest = activity
        retainer.cut = cut
    }

    /// A tenant's next event or fact is the one after these.
    func count(_ tenant: TenantID, event: Int64, fact: Int64) throws(EventLogError) {
        let number = standing.tenantTable.number(tenant)
        standing.seqs.begin(.event, number, after: event)
        standing.seqs.begin(.fact, number, after: fact)
        try rows.writeTenants(&standing)
        try rows.writeTallies(&standing)
        try engine.commit()
        standing.settle()
    }

    /// The activity is at `mark`, whose event was cut.
    func adopt(
        _ activity: ActivityNumber, _ tenant: TenantID, _ mark: ActivityMarks.Mark
    ) throws(EventLogError) {
        var mark = mark
        mark.tenant = standing.tenantTable.number(tenant)
        standing.marks.recover(activity.rawValue, mark)
        try rows.writeTenants(&standing)
    }

    /// Keeps the head that an activity of another log had at its newest event here, at `seq`.
    /// Answers false where that is not its newest.
    func keep(
        _ activity: ActivityNumber, _ value: [UInt8], at seq: Int64
    ) throws(EventLogError) -> Bool {
        let mark = standing.marks.mark(activity.rawValue)
        guard mark.seq == seq else { return false }
        try rows.keep(ActivityHead(activity: activity, value: value), mark)
        standing.marks.giveSnapshot(activity.rawValue)
        try engine.commit()
        standing.settle()
        return true
    }

    /// Takes the rows of keys that count no longer, and makes all of the log durable, in the files
    /// that the engine keeps when it is closed.
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
