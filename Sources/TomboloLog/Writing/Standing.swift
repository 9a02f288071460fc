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

    typealias Savepoint = (
        marks: Int, keys: Int, nextSeq: Int64, nextFactSeq: Int64, tenants: Int64,
        seqs: TenantSeqs.Savepoint
    )

    private(set) var nextSeq: Int64
    private(set) var nextFactSeq: Int64
    var marks = ActivityMarks()
    /// One for each event of the batch that was placed last.
    private(set) var places: [Place] = []
    /// The same for its facts: their tenants, and their places among those.
    private(set) var factPlaces: [(tenant: Int64, tenantSeq: Int64)] = []
    /// How many events and facts each tenant has.
    var seqs = TenantSeqs()
    var tenantTable = Tenants()
    var keys = KeyHashTable()
    private var newKeys: [(hash: UInt64, seq: Int64)] = []
    /// Of retired activities that the batch placed last brought back: their days.
    private(set) var revived: [(activity: Int64, day: Int64)] = []
    let hash: KeyedHash

    /// That of a log that has come to `last`; by itself, of an empty one.
    init(after last: ByKind<Int64> = ByKind(event: 0, fact: 0), hash: KeyedHash) {
        (nextSeq, nextFactSeq, self.hash) = (last.event + 1, last.fact + 1, hash)
    }

    /// The newest event and fact.
    var last: ByKind<Int64> { ByKind(event: nextSeq - 1, fact: nextFactSeq - 1) }

    /// The highest number of a tenant.
    var highestTenant: Int64 { tenantTable.highest }

    /// Whether all rows are of one tenant, whose places are those of the log.
    var isSole: Bool {
        let tally = seqs.tally(1)
        return highestTenant == 1 && (tally.event.gap, tally.fact.gap) == (0, 0)
            && tally.event.last == nextSeq - 1 && tally.fact.last == nextFactSeq - 1
    }

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
                if let imported {
                    let tenant = tenantTable.number(batch.events[index].tenant)
                    seqs.begin(.event, tenant, after: imported.events[index] - 1)
                }
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

    private mutating func placeFacts(of batch: AppendBatch, as imported: ImportedPlaces?) {
        factPlaces.removeAll(keepingCapacity: true)
        for index in batch.facts.indices {
            let tenant = tenantTable.number(batch.facts[index].tenant)
            if let imported { seqs.begin(.fact, tenant, after: imported.facts[index] - 1) }
            factPlaces.append((tenant, seqs.count(.fact, tenant, at: nextFactSeq)))
            nextFactSeq += 1
        }
    }

    private mutating func revive(
        _ activity: Int64, _ retired: (Int64) -> (mark: ActivityMarks.Mark, day: Int64)?
    ) {
        guard marks.mayHaveRetired(activity), let (mark, day) = retired(activity) else { return }
        marks.set(activity, mark)
        revived.append((activity, day))
    }

    private mutating func place(
        _ event: NewEvent, isImported: Bool, anchor: (Int64) -> Int64,
        row: (Int64) -> NewEvent?
    ) throws(EventLogError) {
        let tenant = tenantTable.number(event.tenant)
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

    // MARK: Taking back

    var savepoint: Savepoint {
        (
            marks.savepoint, newKeys.count, nextSeq, nextFactSeq, tenantTable.stored,
            seqs.savepoint
        )
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
        tenantTable.stored = savepoint.tenants
        seqs.rolledBack()
    }

    /// What was placed is durable.
    mutating func settle() {
        marks.settle()
        seqs.settle()
        newKeys.removeAll(keepingCapacity: true)
    }
}
