import CSQLite
import TomboloCore
import TomboloEventLog

/// The statements that write, prepared once, and the rows of a batch in their order.
struct LogRows: ~Copyable {
    private let insertEvent: Statement
    private let insertFact: Statement
    private let replaceHead: Statement
    private let changeHead: Statement
    private let replaceRecord: Statement
    private let deleteRecord: Statement
    private let insertTenant: Statement
    private let selectEvent: Statement
    private let deleteHead: Statement
    private let insertBlock: Statement
    private let factIndex: FactIndexRows
    private let insertKeys: Statement
    private let insertSnapshot: Statement
    private let selectSnapshot: Statement
    private let insertWaypoint: Statement
    private let replaceTally: Statement
    private var buffer = RowBuffer()
    /// The one that the next event stands in.
    private var chapter = LogChapter()
    /// The same for facts.
    var factChapter = FactChapter()
    /// Of the newest batch: chapters of facts that it filled, and what they count.
    private(set) var filled: [(chapter: Int64, bytes: Int64)] = []
    /// Heads without a row, or with an old one.
    private(set) var later = LaterHeads()
    private var keys = KeyChapters()
    private var retiredDays = RetiredDays()
    /// Of the next piece of a cut.
    private(set) var allowance = CutAllowance()

    init(_ connection: borrowing Connection) throws(SQLiteError) {
        let insertEvent = try connection.prepare(LogTable.event.insertion)
        let insertFact = try connection.prepare(LogTable.fact.insertion)
        let replaceHead = try connection.prepare(LogTable.head.replacement)
        let changeHead = try connection.prepare(LogTable.head.change)
        let replaceRecord = try connection.prepare(LogTable.record.replacement)
        let deleteRecord = try connection.prepare(LogTable.record.deletion)
        let insertTenant = try connection.prepare(LogTable.tenant.replacement)
        let selectEvent = try connection.prepare(LogTable.event.one)
        let insertBlock = try connection.prepare(LogTable.block.replacement)
        let insertKeys = try connection.prepare(LogTable.keys.replacement)
        let factIndex = try FactIndexRows(connection)
        let insertSnapshot = try connection.prepare(LogTable.snapshot.replacement)
        let selectSnapshot = try connection.prepare(LogTable.snapshot.one)
        let deleteHead = try connection.prepare(LogTable.head.deletion)
        let insertWaypoint = try connection.prepare(Waypoint.insertion)
        let replaceTally = try connection.prepare(LogTable.tally.replacement)
        self.insertKeys = insertKeys
        self.insertWaypoint = insertWaypoint
        self.replaceTally = replaceTally
        self.insertBlock = insertBlock
        self.factIndex = factIndex
        self.insertSnapshot = insertSnapshot
        self.selectSnapshot = selectSnapshot
        self.deleteHead = deleteHead
        self.insertEvent = insertEvent
        self.insertFact = insertFact
        self.replaceHead = replaceHead
        self.changeHead = changeHead
        self.replaceRecord = replaceRecord
        self.deleteRecord = deleteRecord
        self.insertTenant = insertTenant
        self.selectEvent = selectEvent
    }

    /// Goes on with what recovery found.
    mutating func recover(
        _ keys: KeyChapters, _ later: LaterHeads, after last: TalliedUpTo,
        _ connection: borrowing Connection
    ) throws(SQLiteError) {
        self.keys = keys
        self.later = later
        try openChapters(after: last, connection)
    }

    private mutating func openChapters(
        after last: TalliedUpTo, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        chapter = try LogChapter.open(after: last.event, connection)
        factChapter = try FactChapter.open(after: last.fact, connection)
    }

    /// Writes all rows of a batch that `standing` has just placed.
    ///
    /// - Parameter slack: how much later than they say its events may have come, on the clock that
    ///   nobody sets.
    mutating func write(
        _ batch: AppendBatch, at receipt: AppendReceipt, _ standing: inout Standing,
        slack: Span = .zero, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        filled.removeAll(keepingCapacity: true)
        try writeTenants(&standing)
        try writeEvents(batch, at: receipt, &standing, slack)
        try writeHeads(batch, at: receipt, &standing, connection)
        for index in batch.facts.indices {
            let seq = receipt.firstFactSeq + Int64(index)
            let (tenant, tenantSeq) = standing.factPlaces[index]
            let row = FactRow.encode(
                batch.facts[index], seq, tenantSeq: tenantSeq, tenant: tenant, into: &buffer)
            try insertFact.put(seq, row)
            allowance.store(rows: 1, bytes: row.count)
            factChapter.add(seq, batch.facts[index], tenant: tenant)
            if seq % FactIndex.size == 0 { try closeFactChapter(at: seq) }
        }
        for record in batch.records { try put(record) }
        for (activity, day) in standing.revived {
            try retiredDays.revive(activity, day: day, connection)
        }
        for retired in batch.retired { try retire(retired, &standing, connection) }
        for activity in batch.replaced {
            try deleteHead.execute(at: activity.rawValue)
        }
        for waypoint in standing.seqs.takeNewWaypoints() {
            try waypoint.insert(into: &buffer, with: insertWaypoint)
        }
        if standing.seqs.isFarBehind(standing.last) { try writeTallies(&standing) }
    }

    /// Writes how many events and facts each tenant has, where that row is behind.
    mutating func writeTallies(_ standing: inout Standing) throws(SQLiteError) {
        try TallyRow.write(
            &standing.seqs, upTo: standing.last, into: &buffer, with: replaceTally)
    }

    private mutating func writeEvents(
        _ batch: AppendBatch, at receipt: AppendReceipt, _ standing: inout Standing, _ slack: Span
    ) throws(SQLiteError) {
        // Each is looked at where it stands: a copy of an event costs a dozen reference counts.
        for index in batch.events.indices {
            let place = standing.places[index]
            let seq = receipt.firstSeq + Int64(index)
            let row = EventRow.encode(batch.events[index], seq, place, into: &buffer)
            try insertEvent.put(seq, row)
            allowance.store(rows: 1, bytes: row.count)
            let recordedAt = batch.events[index].recordedAt
            chapter.add(
                seq, tenant: place.tenant, kind: batch.events[index].kind.rawValue,
                recordedAt: recordedAt.nanoseconds)
            if batch.events[index].idempotency != nil {
                let steady = recordedAt - (batch.lead ?? .zero) + slack
                if let cutoff = keys.insert(place.hash, seq: seq, at: steady) {
                    standing.expireKeys(below: cutoff)
                }
            }
            if seq % LogChapter.size == 0 { try closeChapter(at: seq) }
        }
    }

    private mutating func closeChapter(at seq: Int64) throws(SQLiteError) {
        let first = LogChapter.first(of: seq)
        try insertBlock.put(first, chapter.encode(first, into: &buffer))
        chapter = LogChapter()
        try keys.close(first, into: &buffer, with: insertKeys)
    }

    private mutating func closeFactChapter(at seq: Int64) throws(SQLiteError) {
        let number = FactIndex.chapter(of: seq)
        try factIndex.insert(factChapter, number, into: &buffer)
        filled.append((number, factChapter.bytes))
        factChapter.clear()
    }

    private mutating func writeHeads(
        _ batch: AppendBatch, at receipt: AppendReceipt, _ standing: inout Standing,
        _ connection: borrowing Connection
    ) throws(SQLiteError) {
        for index in batch.heads.indices {
            let activity = batch.heads[index].activity
            let mark = standing.giveHead(activity)
            if batch.heads[index].follows, mark.hasHead {
                if later.isEmpty, later.savepoint == 0 {
                    try LogCut.storeHeads(receipt.firstSeq - 1, connection)
                }
                later.put(batch.heads[index])
            } else {
                try write(batch.heads[index], mark)
                later.remove(activity.rawValue)
            }
            if mark.needsSnapshot {
                try keep(batch.heads[index], mark)
                standing.giveSnapshot(activity)
            }
        }
    }

    private mutating func write(
        _ head: ActivityHead, _ mark: ActivityMarks.Mark
    ) throws(SQLiteError) {
        let row = HeadRow.encode(head, mark, into: &buffer)
        if mark.hasHead {
            try changeHead.put(head.activity.rawValue, row)
        } else {
            try replaceHead.put(head.activity.rawValue, row)
        }
    }

    /// Writes every row that waits; `settleLater` when that is durable.
    mutating func writeLater(
        _ standing: Standing, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        for head in later.all { try write(head, standing.marks.mark(head.activity.rawValue)) }
        try LogCut.storeHeads(nil, connection)
    }

    mutating func settleLater() { later.removeAll() }

    /// A piece of a cut was taken, or there is nothing to cut.
    mutating func settleCut() {
        allowance = CutAllowance()
        keys.settleCut()
    }

    /// What was written is durable.
    mutating func settle() { later.settle() }

    /// Keeps a head as it is now. A batch's head is its activity's as of that moment.
    mutating func keep(
        _ head: ActivityHead, _ mark: ActivityMarks.Mark
    ) throws(SQLiteError) {
        var numbers = SnapshotRow.Numbers(
            tenant: mark.tenant, activity: head.activity.rawValue, version: mark.version,
            previous: max(0, mark.anchor), far: 0, recordedAt: 0)
        if let event = try selectEvent.find(mark.seq, EventRow.numbers) {
            numbers.recordedAt = event.recordedAt
        }
        if let previous = try snapshot(at: numbers.previous) {
            let isNewGroup =
                SnapshotRow.group(previous.version) != SnapshotRow.group(mark.version)
            numbers.far = isNewGroup ? numbers.previous : previous.far
        }
        try insertSnapshot.put(
            mark.seq, SnapshotRow.encode(mark.seq, numbers, head.value, into: &buffer))
    }

    private func snapshot(at seq: Int64) throws(SQLiteError) -> SnapshotRow.Numbers? {
        seq > 0 ? try selectSnapshot.find(seq, SnapshotRow.numbers) : nil
    }

    /// Where the newest snapshot up to the activity's event at `seq` stands; 0 where there is none.
    func anchor(_ seq: Int64) -> Int64 {
        // What cannot be read is no stone to step on.
        if (try? snapshot(at: seq)) != nil { return seq }
        return (try? selectEvent.find(seq, EventRow.numbers))?.anchor ?? 0  // as above
    }

    private mutating func retire(
        _ retired: RetiredActivity, _ standing: inout Standing, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        let mark = standing.marks.mark(retired.activity.rawValue)
        guard mark.tenant > 0 else { return }
        let hash = standing.hash(mark.tenant, retired.name.rawValue)
        if let value = later.value(retired.activity.rawValue) {
            try write(ActivityHead(activity: retired.activity, content: value), mark)
            later.remove(retired.activity.rawValue)
        }
        try retiredDays.retire(retired, hash: hash, connection)
        try deleteHead.execute(at: retired.activity.rawValue)
        standing.retire(retired.activity)
    }

    private mutating func put(_ record: Record) throws(SQLiteError) {
        let key = RecordRow.key(record)
        guard let value = record.value else { return try deleteRecord.execute(at: key) }
        try replaceRecord.put(key, RecordRow.encode(key, value, into: &buffer))
    }

    /// Rows for tenants that have none yet.
    mutating func writeTenants(_ standing: inout Standing) throws(SQLiteError) {
        for (number, name) in standing.takeNewTenants() { try put(number, name) }
    }

    /// The row of a tenant, new or in place of a damaged one.
    mutating func put(_ number: Int64, _ name: TenantID) throws(SQLiteError) {
        try insertTenant.put(number, Tenants.encode(number, name, into: &buffer))
    }

    /// The keys of chapters whose rows are damaged or missing.
    mutating func put(
        _ repair: KeyChapters.Repair, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        for (first, chapter) in repair.made {
            try insertKeys.put(first, chapter.encode(first, into: &buffer))
        }
        let deletion = try connection.prepare(LogTable.keys.deletion)
        for stray in repair.strays { try deletion.execute(at: stray) }
    }

    /// The event at `seq`, written in this transaction or before; nil where it is damaged or cannot
    /// be read.
    func event(_ seq: Int64, tenants: Tenants) -> NewEvent? {
        // A row that cannot be read is treated as one that is damaged.
        try? selectEvent.find(seq) { EventRow.event($0, $1, tenants: tenants)?.event }
    }

    /// Leaves nothing of an activity but where it stood.
    mutating func bury(
        _ activity: Int64, _ mark: ActivityMarks.Mark, on day: Int64, nameHash: UInt64?,
        _ connection: borrowing Connection
    ) throws(SQLiteError) {
        later.remove(activity)
        try retiredDays.bury(activity, mark, on: day, nameHash: nameHash, connection)
    }

    /// Takes the oldest row of keys: see `KeyChapters.cut`.
    mutating func cutKeys(_ connection: borrowing Connection) throws(SQLiteError) -> Int64? {
        try keys.cut(connection)
    }

    func hasOldKeys(at instant: Instant) -> Bool { keys.hasOld(at: instant) }

    /// Takes a piece of the activities that retired on days before `day`; nil where there is none.
    mutating func cutRetired(
        before day: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) -> CutPiece? {
        try retiredDays.cutPiece(before: day, allowance, connection)
    }

    mutating func rolledBack(
        after last: TalliedUpTo, _ maker: KeyChapter.Maker, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        try keys.reopen(after: last.event, maker, connection)
        retiredDays.rolledBack()
        later.takeBack(to: 0)
        try openChapters(after: last, connection)
    }
}
