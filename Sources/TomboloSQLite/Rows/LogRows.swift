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
    private var hours = IdempotencyHours()
    private var retiredDays = RetiredDays()
    /// Of the next piece of a cut.
    private(set) var allowance = CutAllowance()

    init(_ connection: borrowing Connection) throws(SQLiteError) {
        let insertEvent = try connection.prepare(EventRow.insertion)
        let insertFact = try connection.prepare(FactRow.insertion)
        let replaceHead = try connection.prepare(HeadRow.replacement)
        let changeHead = try connection.prepare(HeadRow.change)
        let replaceRecord = try connection.prepare(RecordRow.replacement)
        let deleteRecord = try connection.prepare(RecordRow.deletion)
        let insertTenant = try connection.prepare(
            "INSERT INTO tenant(id, name, crc) VALUES(?1,?2,?3)")
        let selectEvent = try connection.prepare(
            "SELECT \(EventRow.columns) FROM event WHERE seq = ?1")
        let insertBlock = try connection.prepare(LogChapter.insertion)
        let factIndex = try FactIndexRows(connection)
        let insertSnapshot = try connection.prepare(SnapshotRow.insertion)
        let selectSnapshot = try connection.prepare(
            "SELECT \(SnapshotRow.columns) FROM snapshot WHERE seq = ?1")
        let deleteHead = try connection.prepare("DELETE FROM head WHERE activity = ?1")
        let insertWaypoint = try connection.prepare(Waypoint.insertion)
        let replaceTally = try connection.prepare(TallyRow.replacement)
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
        _ hours: IdempotencyHours, _ later: LaterHeads, after last: TalliedUpTo,
        _ connection: borrowing Connection
    ) throws(SQLiteError) {
        self.hours = hours
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
    mutating func write(
        _ batch: AppendBatch, at receipt: AppendReceipt, _ standing: inout Standing,
        _ connection: borrowing Connection
    ) throws(SQLiteError) {
        filled.removeAll(keepingCapacity: true)
        try writeTenants(&standing)
        try writeEvents(batch, at: receipt, &standing, connection)
        try writeHeads(batch, at: receipt, &standing, connection)
        for index in batch.facts.indices {
            let seq = receipt.firstFactSeq + Int64(index)
            let (tenant, tenantSeq) = standing.factPlaces[index]
            try insertFact.check(
                FactRow.insert(
                    batch.facts[index], seq: seq, tenantSeq: tenantSeq, tenant: tenant,
                    with: insertFact))
            allowance.store(rows: 1, bytes: batch.facts[index].body.count)
            factChapter.add(seq, batch.facts[index], tenant: tenant)
            if seq % FactIndex.size == 0 { try closeFactChapter(at: seq) }
        }
        for record in batch.records { try put(record) }
        for (activity, day) in standing.revived {
            try retiredDays.revive(activity, day: day, connection)
        }
        for retired in batch.retired { try retire(retired, &standing, connection) }
        for activity in batch.replaced {
            deleteHead.bind(activity.rawValue, at: 1)
            try deleteHead.execute()
        }
        for waypoint in standing.seqs.takeNewWaypoints() {
            try waypoint.insert(with: insertWaypoint)
        }
        if standing.seqs.isFarBehind(standing.last) { try writeTallies(&standing) }
    }

    /// Writes how many events and facts each tenant has, where that row is behind.
    func writeTallies(_ standing: inout Standing) throws(SQLiteError) {
        try TallyRow.write(&standing.seqs, upTo: standing.last, with: replaceTally)
    }

    private mutating func writeEvents(
        _ batch: AppendBatch, at receipt: AppendReceipt, _ standing: inout Standing,
        _ connection: borrowing Connection
    ) throws(SQLiteError) {
        // Each is looked at where it stands: a copy of an event costs a dozen reference counts.
        for index in batch.events.indices {
            let place = standing.places[index]
            let seq = receipt.firstSeq + Int64(index)
            let row = EventRow.encode(batch.events[index], seq, place, into: &buffer)
            insertEvent.bind(seq, at: 1)
            insertEvent.bindBlob(row, at: 2)
            try insertEvent.execute()
            allowance.store(rows: 1, bytes: row.count)
            let recordedAt = batch.events[index].recordedAt
            chapter.add(
                seq, tenant: place.tenant, kind: batch.events[index].kind.rawValue,
                recordedAt: recordedAt.nanoseconds)
            if seq % LogChapter.size == 0 { try closeChapter(at: seq) }
            guard batch.events[index].idempotency != nil else { continue }
            let steady = recordedAt - (batch.lead ?? .zero)
            if let cutoff = try hours.insert(place.hash, seq: seq, at: steady, connection) {
                standing.expireKeys(below: cutoff)
            }
        }
    }

    private mutating func closeChapter(at seq: Int64) throws(SQLiteError) {
        let first = LogChapter.first(of: seq)
        try insertBlock.check(chapter.insert(first: first, with: insertBlock))
        chapter = LogChapter()
    }

    private mutating func closeFactChapter(at seq: Int64) throws(SQLiteError) {
        let number = FactIndex.chapter(of: seq)
        try factIndex.insert(factChapter, number)
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

    private func write(
        _ head: ActivityHead, _ mark: ActivityMarks.Mark
    ) throws(SQLiteError) {
        if mark.hasHead {
            try changeHead.check(HeadRow.write(head, mark, with: changeHead))
        } else {
            try replaceHead.check(HeadRow.write(head, mark, with: replaceHead))
        }
    }

    /// Writes every row that waits; `settleLater` when that is durable.
    func writeLater(
        _ standing: Standing, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        for head in later.all { try write(head, standing.marks.mark(head.activity.rawValue)) }
        try LogCut.storeHeads(nil, connection)
    }

    mutating func settleLater() { later.removeAll() }

    /// A piece of a cut was taken, or there is nothing to cut.
    mutating func settleCut() { allowance = CutAllowance() }

    /// What was written is durable.
    mutating func settle() { later.settle() }

    /// A batch's head is its activity's as of that moment.
    private mutating func keep(
        _ head: ActivityHead, _ mark: ActivityMarks.Mark
    ) throws(SQLiteError) {
        var numbers = SnapshotRow.Numbers(
            tenant: mark.tenant, activity: head.activity.rawValue, version: mark.version,
            previous: max(0, mark.anchor), far: 0, recordedAt: 0)
        selectEvent.bind(mark.seq, at: 1)
        if try selectEvent.step(), let event = EventRow.numbers(selectEvent) {
            numbers.recordedAt = event.recordedAt
        }
        selectEvent.reset()
        if let previous = try snapshot(at: numbers.previous) {
            let isNewGroup =
                SnapshotRow.group(previous.version) != SnapshotRow.group(mark.version)
            numbers.far = isNewGroup ? numbers.previous : previous.far
        }
        try insertSnapshot.check(
            SnapshotRow.insert(mark.seq, numbers, head.value, into: &buffer, with: insertSnapshot))
    }

    private func snapshot(at seq: Int64) throws(SQLiteError) -> SnapshotRow.Numbers? {
        guard seq > 0 else { return nil }
        selectSnapshot.bind(seq, at: 1)
        defer { selectSnapshot.reset() }
        return try selectSnapshot.step() ? SnapshotRow.numbers(selectSnapshot) : nil
    }

    /// Where the newest snapshot up to the activity's event at `seq` stands; 0 where there is none.
    func anchor(_ seq: Int64) -> Int64 {
        // What cannot be read is no stone to step on.
        if (try? snapshot(at: seq)) != nil { return seq }
        selectEvent.bind(seq, at: 1)
        defer { selectEvent.reset() }
        guard (try? selectEvent.step()) == true else { return 0 }  // as above
        return EventRow.numbers(selectEvent)?.anchor ?? 0
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
        deleteHead.bind(retired.activity.rawValue, at: 1)
        try deleteHead.execute()
        standing.retire(retired.activity)
    }

    private func put(_ record: Record) throws(SQLiteError) {
        guard let value = record.value else {
            deleteRecord.bind(RecordRow.key(record), at: 1)
            return try deleteRecord.execute()
        }
        try replaceRecord.check(RecordRow.replace(record, value: value, with: replaceRecord))
    }

    /// Rows for tenants that have none yet.
    func writeTenants(_ standing: inout Standing) throws(SQLiteError) {
        for (number, name) in standing.takeNewTenants() { try insert(number, name) }
    }

    /// The same for one whose row is damaged.
    func replaceTenant(
        _ number: Int64, _ name: TenantID, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        try connection.execute("DELETE FROM tenant WHERE id = \(number)")
        try insert(number, name)
    }

    private func insert(_ number: Int64, _ name: TenantID) throws(SQLiteError) {
        insertTenant.bind(number, at: 1)
        let code = withBytes(of: name.name.rawValue) { bytes in
            insertTenant.bindText(bytes, at: 2)
            insertTenant.bind(Tenants.checksum(number, name: bytes), at: 3)
            return insertTenant.run()
        }
        try insertTenant.check(code)
    }

    /// The event at `seq`, written in this transaction or before; nil where it is damaged or cannot
    /// be read.
    func event(_ seq: Int64, tenants: Tenants) -> NewEvent? {
        selectEvent.bind(seq, at: 1)
        defer { selectEvent.reset() }
        // A row that cannot be read is treated as one that is damaged.
        guard (try? selectEvent.step()) == true else { return nil }
        return EventRow.event(selectEvent, tenants: tenants)?.event
    }

    /// Leaves nothing of an activity but where it stood.
    mutating func bury(
        _ activity: Int64, _ mark: ActivityMarks.Mark, on day: Int64, nameHash: UInt64?,
        _ connection: borrowing Connection
    ) throws(SQLiteError) {
        later.remove(activity)
        try retiredDays.bury(activity, mark, on: day, nameHash: nameHash, connection)
    }

    /// Takes a piece of the keys that count no longer.
    mutating func cutKeys(
        _ connection: borrowing Connection
    ) throws(SQLiteError) -> CutPiece { try hours.cutPiece(connection) }

    var hasOldKeys: Bool { hours.hasOld }

    /// Takes a piece of the activities that retired on days before `day`; nil where there is none.
    mutating func cutRetired(
        before day: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) -> CutPiece? {
        try retiredDays.cutPiece(before: day, allowance, connection)
    }

    mutating func rolledBack(
        after last: TalliedUpTo, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        try hours.rolledBack(connection)
        retiredDays.rolledBack()
        later.takeBack(to: 0)
        try openChapters(after: last, connection)
    }
}
