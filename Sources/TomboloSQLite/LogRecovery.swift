import TomboloCore
import TomboloEventLog

/// Reads what start-up needs: what lives, not what happened.
struct LogRecovery {
    private(set) var log = RecoveredLog()
    private(set) var cut = LogCut()
    private var marks = ActivityMarks()
    private var tenants = Tenants()
    private(set) var hours = IdempotencyHours()
    /// Heads whose rows are older than their newest event.
    private(set) var later = LaterHeads()

    init(
        _ connection: borrowing Connection, hash: KeyedHash, since: Instant
    ) throws(SQLiteError) {
        cut = try LogCut(connection)
        if let line = cut.headsLost { log.damage.append(line) }
        log.lastSeq = max(try connection.integer("SELECT max(seq) FROM event"), cut.seq)
        log.lastFactSeq = max(try connection.integer("SELECT max(seq) FROM fact"), cut.fact)
        log.lastActivity = cut.activity
        log.restoredAt = try LogMeta.restoredAt(connection)
        var damage: [String] = []
        tenants = try Tenants.read(connection) { damage.append($0) }
        log.damage += damage
        try readHeads(connection)
        try readRetired(connection)
        try readRecords(connection)
        try readKeys(connection, hash: hash, since: since)
    }

    /// The writer's memory as of now.
    consuming func standing(hash: KeyedHash) -> Standing {
        Standing(
            nextSeq: log.lastSeq + 1, nextFactSeq: log.lastFactSeq + 1, marks: marks,
            tenants: tenants, keys: log.idempotency.table, hash: hash)
    }

    private mutating func readHeads(_ connection: borrowing Connection) throws(SQLiteError) {
        let tail = try HeadTail(after: cut.heads, tenants: tenants, connection)
        log.damage += tail.damage
        let rows = try connection.prepare(
            "SELECT \(HeadRow.columns) FROM head ORDER BY activity")
        while try rows.step() {
            let activity = rows.integer(0)
            log.lastActivity = max(log.lastActivity, activity)
            guard let mark = HeadRow.mark(rows) else {
                marks.setAside(activity)
                log.damage.append("the head of activity \(activity): its row is damaged")
                continue
            }
            guard mark.seq <= log.lastSeq else {
                marks.setAside(activity)
                log.damage.append(
                    "the head of activity \(activity) stands at event \(mark.seq), which the log "
                        + "does not have: a part of the files is of another time")
                continue
            }
            let stored = RecoveredHead(
                activity: ActivityNumber(activity), version: mark.version, seq: mark.seq,
                value: Array(rows.bytes(5)))
            recover(stored, mark, tail)
        }
    }

    private mutating func recover(
        _ stored: RecoveredHead, _ mark: ActivityMarks.Mark, _ tail: HeadTail
    ) {
        guard tail.has(stored.activity.rawValue) else {
            marks.recover(stored.activity.rawValue, mark)
            log.heads.append(stored)
            return
        }
        guard let head = tail.follow(stored) else {
            marks.setAside(stored.activity.rawValue)
            log.damage.append(
                "activity \(stored.activity.rawValue): its newest events do not follow its head")
            return
        }
        var mark = mark
        (mark.version, mark.seq) = (head.version, head.seq)
        marks.recover(head.activity.rawValue, mark)
        log.heads.append(head)
        if head.seq > stored.seq {
            later.recover(ActivityHead(activity: head.activity, value: head.value))
        }
    }

    /// Only whether there are any, and the highest number among them.
    private mutating func readRetired(_ connection: borrowing Connection) throws(SQLiteError) {
        for day in try RetiredDays.days(connection) {
            let last = try connection.integer(
                "SELECT max(activity) FROM \(RetiredDays.prefix)\(day)")
            log.lastActivity = max(log.lastActivity, last)
            log.hasRetired = true
        }
    }

    private mutating func readRecords(_ connection: borrowing Connection) throws(SQLiteError) {
        let rows = try connection.prepare(
            "SELECT \(RecordRow.columns) FROM record ORDER BY key")
        while try rows.step() {
            if let record = RecordRow.record(rows) {
                log.records.append(record)
            } else {
                let key = rows.integer(0)
                log.damage.append(
                    "record \(key & RecordRow.numberMax) of space \(key >> 48): its row is damaged")
            }
        }
    }

    private mutating func readKeys(
        _ connection: borrowing Connection, hash: KeyedHash, since: Instant
    ) throws(SQLiteError) {
        var keys = RecoveredKeys(hash: hash, tenants: tenants.byName)
        var damage: [String] = []
        try hours.list(connection)
        try hours.read(since: since, connection, damage: { damage.append($0) }) {
            keys.insert($0, seq: $1, hour: $2)
        }
        log.damage += damage
        log.idempotency = keys
        marks.recover(highest: log.lastActivity)
    }
}
