import TomboloCore
import TomboloEventLog

/// Where the log stands, in memory: next sequences, activities, tenants, keys. A batch is checked
/// against it and takes its places in it before a row is written; what comes to nothing is taken
/// back.
struct Standing {
    /// Where one event of the newest batch comes to stand.
    struct Place {
        var tenant: Int64
        /// Among the events of its tenant.
        var tenantSeq: Int64
        var previous: Int64
        var anchor: Int64
        /// Of its idempotency key; 0 without one.
        var hash: UInt64
    }

    struct Savepoint {
        fileprivate var marks: Int
        fileprivate var keys: Int
        fileprivate var nextSeq: Int64
        fileprivate var nextFactSeq: Int64
        fileprivate var tenants: Int64
        fileprivate var seqs: TenantSeqs.Savepoint
    }

    private(set) var nextSeq: Int64
    private(set) var nextFactSeq: Int64
    private(set) var marks: ActivityMarks
    /// One for each event of the batch that was placed last.
    private(set) var places: [Place] = []
    /// The same for its facts: their tenants, and their places among those.
    private(set) var factPlaces: [(tenant: Int64, tenantSeq: Int64)] = []
    /// How many events and facts each tenant has.
    var seqs: TenantSeqs
    private var tenants: Tenants
    private var keys: KeyHashTable
    private var newKeys: [(hash: UInt64, seq: Int64)] = []
    /// Of retired activities that the batch placed last brought back: their days.
    private(set) var revived: [(activity: Int64, day: Int64)] = []
    let hash: KeyedHash

    /// That of an empty log.
    init(hash: KeyedHash) {
        self.init(
            nextSeq: 1, nextFactSeq: 1, marks: ActivityMarks(), tenants: Tenants(),
            seqs: TenantSeqs(), keys: KeyHashTable(), hash: hash)
    }

    init(
        nextSeq: Int64, nextFactSeq: Int64, marks: ActivityMarks, tenants: Tenants,
        seqs: TenantSeqs, keys: KeyHashTable, hash: KeyedHash
    ) {
        self.nextSeq = nextSeq
        self.nextFactSeq = nextFactSeq
        self.marks = marks
        self.tenants = tenants
        self.seqs = seqs
        self.keys = keys
        self.hash = hash
    }

    /// The newest event and fact.
    var last: ByKind<Int64> { ByKind(event: nextSeq - 1, fact: nextFactSeq - 1) }

    /// The highest number of a tenant.
    var highestTenant: Int64 { tenants.highest }

    /// Whether all rows are of one tenant, whose places are those of the log.
    var isSole: Bool {
        let tally = seqs.tally(1)
        return highestTenant == 1 && (tally.event.gap, tally.fact.gap) == (0, 0)
            && tally.event.last == nextSeq - 1 && tally.fact.last == nextFactSeq - 1
    }

    /// The highest number that any activity ever took.
    var highestActivity: Int64 { marks.highest }

    // MARK: Placing

    /// Gives each event its place, or changes nothing and throws. `row` fetches the event at a
    /// sequence; nil where its row is damaged, which is then taken for the key's own: 64 bits agree
    /// by accident once in ages, and an event twice is worse than one refused.
    mutating func place(
        _ batch: AppendBatch, as imported: ImportedPlaces? = nil, row: (Int64) -> NewEvent?,
        anchor: (Int64) -> Int64, retired: (Int64) -> (mark: ActivityMarks.Mark, day: Int64)?
    ) throws(EventLogError) -> AppendReceipt {
        let start = savepoint
        var receipt = AppendReceipt(firstSeq: nextSeq, firstFactSeq: nextFactSeq)
        places.removeAll(keepingCapacity: true)
        revived.removeAll(keepingCapacity: true)
        let firstSeq = nextSeq
        do throws(EventLogError) {
            for index in batch.events.indices {
                revive(batch.events[index].activity.rawValue, retired)
                if let imported { begin(batch.events[index].tenant, at: imported.events[index]) }
                // Another log has taken the key twice, for reasons of its own.
                try place(batch.events[index], isImported: imported != nil, anchor: anchor) {
                    seq in seq < firstSeq ? row(seq) : batch.events[Int(seq - firstSeq)]
                }
            }
        } catch {
            takeBack(to: start)
            throw error
        }
        if imported == nil { checkHeads(of: batch) }
        placeFacts(of: batch, as: imported)
        receipt.tenantSeqs = places.map(\.tenantSeq)
        receipt.tenantFactSeqs = factPlaces.map(\.tenantSeq)
        return receipt
    }

    private mutating func begin(_ tenant: TenantID, at tenantSeq: Int64) {
        seqs.begin(.event, tenants.number(tenant), after: tenantSeq - 1)
    }

    private mutating func placeFacts(of batch: AppendBatch, as imported: ImportedPlaces?) {
        factPlaces.removeAll(keepingCapacity: true)
        for index in batch.facts.indices {
            let tenant = tenants.number(batch.facts[index].tenant)
            if let imported { seqs.begin(.fact, tenant, after: imported.facts[index] - 1) }
            factPlaces.append((tenant, seqs.count(.fact, tenant, at: nextFactSeq)))
            nextFactSeq += 1
        }
    }

    private mutating func revive(
        _ activity: Int64, _ retired: (Int64) -> (mark: ActivityMarks.Mark, day: Int64)?
    ) {
        guard marks.mayHaveRetired(activity), let (mark, day) = retired(activity) else { return }
        marks.revive(activity, mark)
        revived.append((activity, day))
    }

    mutating func retire(_ activity: ActivityNumber) { marks.retire(activity.rawValue) }

    private mutating func place(
        _ event: NewEvent, isImported: Bool, anchor: (Int64) -> Int64,
        row: (Int64) -> NewEvent?
    ) throws(EventLogError) {
        let tenant = tenants.number(event.tenant)
        let tenantSeq = seqs.count(.event, tenant, at: nextSeq)
        let mark = try marks.advance(
            event.activity, expectedVersion: event.expectedVersion, tenant: tenant, seq: nextSeq,
            tenantSeq: tenantSeq, anchor: anchor)
        var place = Place(
            tenant: tenant, tenantSeq: tenantSeq, previous: mark.seq, anchor: max(0, mark.anchor),
            hash: 0)
        if let key = event.idempotency {
            place.hash = hash(tenant, key.key)
            let holder =
                isImported
                ? nil
                : keys.first(place.hash) { seq in
                    guard let other = row(seq) else { return true }
                    return other.tenant == event.tenant && other.idempotency?.key == key.key
                        && other.recordedAt >= event.recordedAt - IdempotencyKey.window
                }
            if let holder { throw .duplicateKey(key, seq: holder) }
            keys.insert(place.hash, seq: nextSeq)
            newKeys.append((place.hash, nextSeq))
        }
        places.append(place)
        nextSeq += 1
    }

    private func checkHeads(of batch: AppendBatch) {
        // As the core has them where each activity is touched once: in the order of the events.
        if batch.events.count == batch.heads.count,
            batch.events.indices.allSatisfy({
                batch.events[$0].activity == batch.heads[$0].activity
            })
        {
            return
        }
        let heads = Set(batch.heads.map(\.activity))
        precondition(
            batch.events.allSatisfy { heads.contains($0.activity) },
            "a batch carries a head for each activity that its events touch")
    }

    /// Where the activity of a head stands that is written now.
    mutating func giveHead(_ activity: ActivityNumber) -> ActivityMarks.Mark {
        marks.giveHead(activity.rawValue)
    }

    /// The newest event of an activity has a snapshot now.
    mutating func giveSnapshot(_ activity: ActivityNumber) {
        marks.giveSnapshot(activity.rawValue)
    }

    /// The number of `tenant`, a new one where it has none.
    mutating func number(_ tenant: TenantID) -> Int64 { tenants.number(tenant) }

    /// Tenants that need a row before rows of theirs are written; they count as stored from now on.
    mutating func takeNewTenants() -> [(number: Int64, name: TenantID)] {
        let new = tenants.new
        tenants.settle()
        return new
    }

    func name(_ tenant: Int64) -> TenantID? { tenants.name(tenant) }

    var tenantTable: Tenants { tenants }

    mutating func expireKeys(below seq: Int64) { keys.expire(below: seq) }

    // MARK: Taking in another log

    mutating func begin(after cut: LogCut) {
        (nextSeq, nextFactSeq) = (cut.seq + 1, cut.fact + 1)
        marks.recover(highest: cut.activity)
    }

    mutating func adopt(
        _ activity: ActivityNumber, _ tenant: TenantID, version: Int64, seq: Int64,
        tenantSeq: Int64
    ) {
        marks.recover(
            activity.rawValue,
            ActivityMarks.Mark(
                version: version, seq: seq, tenantSeq: tenantSeq, tenant: tenants.number(tenant)))
    }

    // MARK: Taking back

    var savepoint: Savepoint {
        Savepoint(
            marks: marks.savepoint, keys: newKeys.count, nextSeq: nextSeq,
            nextFactSeq: nextFactSeq, tenants: tenants.savepoint, seqs: seqs.savepoint)
    }

    /// Everything since `savepoint` never happened; rows of tenants stay written.
    mutating func takeBack(to savepoint: Savepoint) {
        marks.takeBack(to: savepoint.marks)
        seqs.takeBack(to: savepoint.seqs)
        while newKeys.count > savepoint.keys, let (hash, seq) = newKeys.popLast() {
            keys.remove(hash, seq: seq)
        }
        nextSeq = savepoint.nextSeq
        nextFactSeq = savepoint.nextFactSeq
    }

    /// The same where the transaction was rolled back.
    mutating func rollBack(to savepoint: Savepoint) {
        takeBack(to: savepoint)
        tenants.takeBack(to: savepoint.tenants)
        seqs.rolledBack()
    }

    /// What was placed is durable.
    mutating func settle() {
        marks.settle()
        seqs.settle()
        newKeys.removeAll(keepingCapacity: true)
    }
}
