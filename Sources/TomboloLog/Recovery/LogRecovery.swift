import TomboloCore
import TomboloEventLog

/// Reads what start-up needs: current values, not history.
struct LogRecovery {
    private(set) var log = RecoveredLog()
    private(set) var cut = LogCut()
    /// The writer's state in memory.
    private(set) var standing: Standing
    private(set) var keys = KeyChapters()
    /// Heads whose rows are older than the activity's newest event.
    private(set) var later = LaterHeads()

    /// Damaged rows whose values were recovered and that must be rewritten.
    private(set) var repair = Repair()
    private let caution: LogCaution

    /// Repairs that start-up writes.
    struct Repair {
        var cut = false
        var tenants: [(number: Int64, name: TenantID)] = []
        var keys = KeyChapters.Repair()

        var isEmpty: Bool { !cut && tenants.isEmpty && keys.isEmpty }
    }

    /// - Parameter damage: damage found before, as lines of text.
    init(
        _ engine: any LogReading, hash: KeyedHash, since: Instant, damage: [String],
        _ caution: LogCaution
    ) throws(EventLogError) {
        self.caution = caution
        standing = Standing(hash: hash)
        log.damage = damage
        cut = try LogCut(engine) { log.damage.append($0) }
        repair.cut = log.damage.count > damage.count
        if let line = cut.headsLost { log.damage.append(line) }
        let last = try cut.newest(engine)
        standing = Standing(after: last, hash: hash)
        (log.lastSeq, log.lastFactSeq) = (last.event, last.fact)
        log.lastActivity = cut.activity
        log.restoredAt = try LogMeta.restoredAt(engine) { log.damage.append($0) }
        standing.tenantTable = try Tenants.read(engine) { log.damage.append($0) }
        try repairTenants(engine)
        try countTenants(last, engine)
        try readHeads(engine)
        try readRetired(engine)
        try readRecords(engine)
        try readKeys(engine, since: since)
    }

    /// If a tenant's row is damaged, finds its name in the heads of the tenant's activities.
    private mutating func repairTenants(_ engine: any LogReading) throws(EventLogError) {
        let nameless = standing.tenantTable.nameless
        guard !nameless.isEmpty else { return }
        var names: [Int64: Set<TenantID>] = [:]
        try engine.scan(.head) { activity, row in
            guard let found = HeadRow.head(activity, row), nameless.contains(found.position.tenant),
                let head = DecodedHead(found.value, version: found.position.version)
            else { return true }
            names[found.position.tenant, default: []].insert(head.key.tenant)
            return true
        }
        for (number, found) in names.sorted(by: { $0.key < $1.key }) {
            guard let name = found.first, found.count == 1,
                standing.tenantTable.known(name) == nil
            else { continue }
            standing.tenantTable.recover(number, name)
            repair.tenants.append((number, name))
        }
    }

    private mutating func countTenants(
        _ last: ByKind<Int64>, _ engine: any LogReading
    ) throws(EventLogError) {
        let tenants = standing.tenantTable
        standing.seqs = try TenantSeqs(tenants, last: last, engine) { log.damage.append($0) }
        for (name, number) in tenants.byName {
            let tally = standing.seqs.tally(number)
            let place = LogPlace(command: tally.event.last, fact: tally.fact.last)
            if place != .none { log.places[name] = place }
        }
    }

    private mutating func readHeads(_ engine: any LogReading) throws(EventLogError) {
        var known: [Int64: Int64] = [:]
        if repair.cut {
            // The number up to which heads are current may be lost: skip events that a head
            // includes.
            try engine.scan(.head) { activity, row in
                if let position = HeadRow.position(activity, row) { known[activity] = position.seq }
                return true
            }
        }
        let tail = try HeadTail(
            after: cut.heads, tenants: standing.tenantTable, known: known, engine)
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
        guard var position = HeadRow.position(activity, row) else {
            return setAside(activity, nil, value, "its row in the log is damaged")
        }
        guard standing.tenantTable.name(position.tenant) != nil else {
            return setAside(activity, position, value, "the name of its tenant is damaged")
        }
        guard position.seq <= log.lastSeq else {
            let reason =
                "its head is at event \(position.tenantSeq), which the log does not have: a part "
                + "of the files is of another time"
            return setAside(activity, position, value, reason)
        }
        let stored = HeadRow.Found(position: position, value: value).recovered(activity)
        var head = stored
        if tail.has(activity) {
            if let count = caution.trapped[stored.activity] {
                return setAside(activity, position, value, WorkNote.reason(count))
            }
            caution.note?.set(WorkNote.Subject(nil, activity))
            do throws(HeadTail.Gap) { head = try tail.follow(stored) } catch {
                return setAside(activity, position, value, error.reason)
            }
            (position.version, position.seq, position.tenantSeq) = (
                head.version, head.seq, head.tenantSeq
            )
        }
        standing.positions.recover(activity, position)
        log.heads.append(head)
        if head.seq > stored.seq {
            later.recover(ActivityHead(activity: head.activity, value: head.value))
        }
    }

    /// Excludes an activity whose newest state is unknown. `position` is nil if its row is damaged.
    private mutating func setAside(
        _ activity: Int64, _ position: ActivityPosition?, _ value: [UInt8], _ reason: String
    ) {
        standing.positions.setAside(activity)
        log.damaged.append(
            DamagedActivity(
                number: ActivityNumber(activity), version: position?.version ?? 0,
                seq: position?.seq ?? 0, tenantSeq: position?.tenantSeq ?? 0, head: value,
                tenant: position.flatMap { standing.tenantTable.name($0.tenant) }, reason: reason))
    }

    /// Reads only whether there are retired activities, and the highest number among them.
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
        _ engine: any LogReading, since: Instant
    ) throws(EventLogError) {
        let hash = standing.hash
        var found = RecoveredKeys(hash: hash, tenants: standing.tenantTable.byName)
        found.reserve(try KeyChapters.estimate(engine))
        var damage: [String] = []
        repair.keys = try keys.recover(
            since: since, cut, last: log.lastSeq, KeyChapter.Maker(hash: hash, leads: cut.leads),
            engine, damage: { damage.append($0) }
        ) { found.insert($0, seqs: $1, hour: $2) }
        log.damage += damage
        log.idempotency = found
        standing.keys = found.table
        standing.positions.highest = log.lastActivity
    }
}
