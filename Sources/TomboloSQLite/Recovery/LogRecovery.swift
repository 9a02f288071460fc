import TomboloCore
import TomboloEventLog

/// Reads what start-up needs: what lives, not what happened.
struct LogRecovery {
    private(set) var log = RecoveredLog()
    private(set) var cut = LogCut()
    private var marks = ActivityMarks()
    private var tenants = Tenants()
    private var seqs = TenantSeqs()
    private(set) var keys = KeyChapters()
    /// Heads whose rows are older than their newest event.
    private(set) var later = LaterHeads()

    /// Rows that were damaged and whose values are known again: to be written anew.
    private(set) var repair = Repair()
    private let caution: LogCaution

    /// What start-up puts right in the files.
    struct Repair {
        var cut = false
        var tenants: [(number: Int64, name: TenantID)] = []
        var keys = KeyChapters.Repair()

        var isEmpty: Bool { !cut && tenants.isEmpty && keys.isEmpty }
    }

    init(
        _ connection: borrowing Connection, hash: KeyedHash, since: Instant, _ caution: LogCaution
    ) throws(SQLiteError) {
        self.caution = caution
        var damage: [String] = []
        cut = try LogCut(connection) { damage.append($0) }
        repair.cut = !damage.isEmpty
        if let line = cut.headsLost { damage.append(line) }
        let bound = "WHERE key <= \(LogSchema.numberMax)"
        log.lastSeq = max(try connection.integer("SELECT max(key) FROM event \(bound)"), cut.seq)
        log.lastFactSeq = max(
            try connection.integer("SELECT max(key) FROM fact \(bound)"), cut.fact)
        log.lastActivity = cut.activity
        log.restoredAt = try LogMeta.restoredAt(connection) { damage.append($0) }
        tenants = try Tenants.read(connection) { damage.append($0) }
        log.damage = damage
        try repairTenants(connection)
        try countTenants(connection)
        try readHeads(connection)
        try readRetired(connection)
        try readRecords(connection)
        try readKeys(connection, hash: hash, since: since)
    }

    /// A tenant whose row is damaged has the name that its heads give it.
    private mutating func repairTenants(_ connection: borrowing Connection) throws(SQLiteError) {
        guard !tenants.nameless.isEmpty else { return }
        var names: [Int64: Set<TenantID>] = [:]
        let rows = try connection.prepare(LogTable.head.selection())
        while try rows.step() {
            guard let found = rows.read(HeadRow.head),
                tenants.nameless.contains(found.mark.tenant),
                let head = StoredHead(found.value, version: found.mark.version)
            else { continue }
            names[found.mark.tenant, default: []].insert(head.key.tenant)
        }
        for (number, found) in names.sorted(by: { $0.key < $1.key }) {
            guard let name = found.first, found.count == 1, tenants.known(name) == nil else {
                continue
            }
            tenants.recover(number, name)
            repair.tenants.append((number, name))
        }
    }

    private mutating func countTenants(_ connection: borrowing Connection) throws(SQLiteError) {
        var damage: [String] = []
        let last = TalliedUpTo(event: log.lastSeq, fact: log.lastFactSeq)
        seqs = try TenantSeqs.recover(tenants, last: last, connection) { damage.append($0) }
        log.damage += damage
        for (name, number) in tenants.byName {
            let tally = seqs.tally(number)
            let place = LogPlace(command: tally.event.last, fact: tally.fact.last)
            if place != .none { log.places[name] = place }
        }
    }

    mutating func note(_ damage: [String]) { log.damage = damage + log.damage }

    /// The writer's memory as of now.
    consuming func standing(hash: KeyedHash) -> Standing {
        Standing(
            nextSeq: log.lastSeq + 1, nextFactSeq: log.lastFactSeq + 1, marks: marks,
            tenants: tenants, seqs: seqs, keys: log.idempotency.table, hash: hash)
    }

    private mutating func readHeads(_ connection: borrowing Connection) throws(SQLiteError) {
        var known: [Int64: Int64] = [:]
        if repair.cut {
            // How far heads are right may be lost too: what each of them tells of is passed over.
            let rows = try connection.prepare(LogTable.head.selection())
            while try rows.step() {
                if let mark = rows.read(HeadRow.mark) { known[rows.key] = mark.seq }
            }
        }
        let tail = try HeadTail(
            after: cut.heads, tenants: tenants, known: known, connection)
        log.damage += tail.damage
        let rows = try connection.prepare(LogTable.head.selection("ORDER BY key"))
        while try rows.step() {
            let activity = rows.key
            guard (0..<ActivityNumber.max).contains(activity) else {
                log.damage.append("the head of activity \(activity): no relay gave that number")
                continue
            }
            log.lastActivity = max(log.lastActivity, activity)
            let value = rows.read(HeadRow.value)
            guard let mark = rows.read(HeadRow.mark) else {
                setAside(activity, nil, value, "its row in the log is damaged")
                continue
            }
            guard tenants.name(mark.tenant) != nil else {
                setAside(activity, mark, value, "the name of its tenant is damaged")
                continue
            }
            guard mark.seq <= log.lastSeq else {
                let reason =
                    "its head is at event \(mark.tenantSeq), which the log does not have: a part "
                    + "of the files is of another time"
                setAside(activity, mark, value, reason)
                continue
            }
            recover(
                HeadRow.Found(mark: mark, value: value).recovered(activity), mark, tail)
        }
        caution.note?.set(nil)
    }

    /// An activity that cannot be followed; where its row is damaged, `mark` is nil.
    private mutating func setAside(
        _ activity: Int64, _ mark: ActivityMarks.Mark?, _ value: [UInt8], _ reason: String
    ) {
        marks.setAside(activity)
        log.damaged.append(
            DamagedActivity(
                number: ActivityNumber(activity), version: mark?.version ?? 0,
                seq: mark?.seq ?? 0, tenantSeq: mark?.tenantSeq ?? 0, head: value,
                tenant: mark.flatMap { tenants.name($0.tenant) },
                reason: reason))
    }

    private mutating func recover(
        _ stored: RecoveredHead, _ mark: ActivityMarks.Mark, _ tail: HeadTail
    ) {
        guard tail.has(stored.activity.rawValue) else {
            marks.recover(stored.activity.rawValue, mark)
            log.heads.append(stored)
            return
        }
        if let count = caution.trapped[stored.activity] {
            return setAside(
                stored.activity.rawValue, mark, stored.value, WorkNote.reason(count))
        }
        caution.note?.set(WorkNote.Subject(nil, stored.activity.rawValue))
        let head: RecoveredHead
        do throws(HeadTail.Gap) { head = try tail.follow(stored) } catch {
            return setAside(stored.activity.rawValue, mark, stored.value, error.reason)
        }
        var mark = mark
        (mark.version, mark.seq, mark.tenantSeq) = (head.version, head.seq, head.tenantSeq)
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
                """
                SELECT max(key) FROM \(LogTable.retired(day).name)
                WHERE key < \(ActivityNumber.max)
                """)
            log.lastActivity = max(log.lastActivity, last)
            log.hasRetired = true
        }
    }

    private mutating func readRecords(_ connection: borrowing Connection) throws(SQLiteError) {
        let rows = try connection.prepare(LogTable.record.selection("ORDER BY key"))
        while try rows.step() {
            if let record = rows.read(RecordRow.record) {
                log.records.append(record)
            } else {
                log.damage.append("\(RecordRow.title(rows.key)): its row is damaged")
            }
        }
    }

    private mutating func readKeys(
        _ connection: borrowing Connection, hash: KeyedHash, since: Instant
    ) throws(SQLiteError) {
        var found = RecoveredKeys(hash: hash, tenants: tenants.byName)
        found.reserve(try KeyChapters.estimate(connection))
        var damage: [String] = []
        repair.keys = try keys.recover(
            since: since, cut, last: log.lastSeq, KeyChapter.Maker(hash: hash, leads: cut.leads),
            connection, damage: { damage.append($0) }
        ) { found.insert($0, seqs: $1, hour: $2) }
        log.damage += damage
        log.idempotency = found
        marks.recover(highest: log.lastActivity)
    }
}
