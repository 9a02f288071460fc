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
    private var hours = IdempotencyHours()
    private var retiredDays = RetiredDays()

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
            "SELECT \(EventRow.columns) FROM log WHERE seq = ?1")
        let deleteHead = try connection.prepare("DELETE FROM head WHERE activity = ?1")
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

    /// Goes on with the tables that recovery found.
    mutating func recover(_ hours: IdempotencyHours) { self.hours = hours }

    /// Writes all rows of a batch that `standing` has just placed.
    mutating func write(
        _ batch: AppendBatch, at receipt: AppendReceipt, _ standing: inout Standing,
        _ connection: borrowing Connection
    ) throws(SQLiteError) {
        let facts = batch.facts.map { standing.number($0.tenant) }
        try writeTenants(&standing)
        // Each is looked at where it stands: a copy of an event costs a dozen reference counts.
        for index in batch.events.indices {
            let place = standing.places[index]
            let seq = receipt.firstSeq + Int64(index)
            try insertEvent.check(
                EventRow.insert(batch.events[index], seq, place, with: insertEvent))
            guard batch.events[index].idempotency != nil else { continue }
            let recordedAt = batch.events[index].recordedAt
            if let cutoff = try hours.insert(place.hash, seq: seq, at: recordedAt, connection) {
                standing.expireKeys(below: cutoff)
            }
        }
        for head in batch.heads {
            let mark = standing.giveHead(head.activity)
            if mark.hasHead {
                try changeHead.check(HeadRow.write(head, mark, with: changeHead))
            } else {
                try replaceHead.check(HeadRow.write(head, mark, with: replaceHead))
            }
        }
        for (index, fact) in batch.facts.enumerated() {
            let seq = receipt.firstFactSeq + Int64(index)
            try insertFact.check(
                FactRow.insert(fact, seq: seq, tenant: facts[index], with: insertFact))
        }
        for record in batch.records { try put(record) }
        for (activity, day) in standing.revived {
            try retiredDays.revive(activity, day: day, connection)
        }
        for retired in batch.retired { try retire(retired, &standing, connection) }
    }

    private mutating func retire(
        _ retired: RetiredActivity, _ standing: inout Standing, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        let mark = standing.marks.mark(retired.activity.rawValue)
        guard mark.tenant > 0 else { return }
        let hash = standing.hash(mark.tenant, retired.name.rawValue)
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

    /// Drops retired activities of days before `day`.
    mutating func dropRetired(
        before day: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) {
        try retiredDays.drop(before: day, connection)
    }

    mutating func rolledBack(_ connection: borrowing Connection) throws(SQLiteError) {
        try hours.rolledBack(connection)
        retiredDays.rolledBack()
    }
}
