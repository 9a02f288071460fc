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
        _ engine: any LogReading, hash: KeyedHash, since: Instant, _ caution: LogCaution
    ) throws(EventLogError) {
        self.caution = caution
        var damage: [String] = []
        cut = try LogCut(engine) { damage.append($0) }
        repair.cut = !damage.isEmpty
        if let line = cut.headsLost { damage.append(line) }
        let last = try cut.newest(engine)
        (log.lastSeq, log.lastFactSeq) = (last.event, last.fact)
        log.lastActivity = cut.activity
        log.restoredAt = try LogMeta.restoredAt(engine) { damage.append($0) }
        tenants = try Tenants.read(engine) { damage.append($0) }
        log.damage = damage
        try repairTenants(engine)
        try countTenants(last, engine)
        try readHeads(engine)
        try readRetired(engine)
        try readRecords(engine)
        try readKeys(engine, hash: hash, since: since)
    }

    /// A tenant whose row is damaged has the name that its heads give it.
    private mutating func repairTenants(_ engine: any LogReading) throws(EventLogError) {
        guard !tenants.nameless.isEmpty else { return }
        var names: [Int64: Set<TenantID>] = [:]
        let nameless = tenants.nameless
        try engine.scan(.head) { activity, row in
            guard let found = HeadRow.head(activity, row), nameless.contains(found.mark.tenant),
                let head = StoredHead(found.value, version: found.mark.version)
            else { return true }
            names[found.mark.tenant, default: []].insert(head.key.tenant)
            return true
        }
        for (number, found) in names.sorted(by: { $0.key < $1.key }) {
            guard let name = found.first, found.count == 1, tenants.known(name) == nil else {
                continue
            }
            tenants.recover(number, name)
            repair.tenants.append((number, name))
        }
    }

    private mutating func countTenants(
        _ last: ByKind<Int64>, _ engine: any LogReading
    ) throws(EventLogError) {
        var damage: [String] = []
        seqs = try TenantSeqs(tenants, last: last, engine) { damage.append($0) }
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
            after: ByKind(event: log.lastSeq, fact: log.lastFactSeq), marks: marks,
            tenants: tenants, seqs: seqs, keys: log.idempotency.table, hash: hash)
    }

    private mutating func readHeads(_ engine: any LogReading) throws(EventLogError) {
        var known: [Int64: Int64] = [:]
        if repair.cut {
            // How far heads are right may be lost too: what each of them tells of is passed over.
            try engine.scan(.head) { activity, row in
                if let mark = HeadRow.mark(activity, row) { known[activity] = mark.seq }
                return true
            }
        }
        let tail = try HeadTail(
            after: cut.heads, tenants: tenants, known: known, engine)
        log.damage += tail.damage
        try engine.scan(.head) { activity, row in
            readHead(activity, row, tail)
            return true
        }
        caution.note?.set(nil)
    }

    private mutating func readHead(_ activity: Int64, _ row: RawSpan, _ tail: HeadTail) {
        guard (0..<ActivityNumber.max).contains(activity) else {
            return log.damage.append(
                "the head of activity \(activity): no relay gave that number")
        }
        log.lastActivity = max(log.lastActivity, activity)
        let value = HeadRow.value(activity, row)
        guard let mark = HeadRow.mark(activity, row) else {
            return setAside(activity, nil, value, "its row in the log is damaged")
        }
        guard tenants.name(mark.tenant) != nil else {
            return setAside(activity, mark, value, "the name of its tenant is damaged")
        }
        guard mark.seq <= log.lastSeq else {
            let reason =
                "its head is at event \(mark.tenantSeq), which the log does not have: a part "
                + "of the files is of another time"
            return setAside(activity, mark, value, reason)
        }
        recover(HeadRow.Found(mark: mark, value: value).recovered(activity), mark, tail)
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
    private mutating func readRetired(_ engine: any LogReading) throws(EventLogError) {
        for day in try RetiredDays.days(engine) {
            let last = try engine.edge(
                .retired(day), .falling, in: 0...ActivityNumber.max - 1)
            log.lastActivity = max(log.lastActivity, last ?? 0)
            log.hasRetired = true
        }
    }

    private mutating func readRecords(_ engine: any LogReading) throws(EventLogError) {
        try engine.scan(.record) { key, row in
            if let record = RecordRow.record(key, row) {
                log.records.append(record)
            } else {
                log.damage.append("\(RecordRow.title(key)): its row is damaged")
            }
            return true
        }
    }

    private mutating func readKeys(
        _ engine: any LogReading, hash: KeyedHash, since: Instant
    ) throws(EventLogError) {
        var found = RecoveredKeys(hash: hash, tenants: tenants.byName)
        found.reserve(try KeyChapters.estimate(engine))
        var damage: [String] = []
        repair.keys = try keys.recover(
            since: since, cut, last: log.lastSeq, KeyChapter.Maker(hash: hash, leads: cut.leads),
            engine, damage: { damage.append($0) }
        ) { found.insert($0, seqs: $1, hour: $2) }
        log.damage += damage
        log.idempotency = found
        marks.recover(highest: log.lastActivity)
    }
}
