import TomboloCore
import TomboloEventLog

/// The log's state in memory: next sequences, activities, tenants, keys. A batch is checked against
/// this state and gets its places before rows are written. If the batch fails, its changes are
/// undone.
struct Standing {
    /// Values for the row of one event of the newest batch.
    struct Place {
        var tenant: Int64
        /// Place among the tenant's events.
        var tenantSeq: Int64
        var previous: Int64
        var anchor: Int64
        /// Hash of the event's idempotency key; 0 if it has none.
        var hash: UInt64
    }

    typealias Savepoint = (
        positions: Int, keys: Int, nextSeq: Int64, nextFactSeq: Int64, tenants: Int64,
        seqs: TenantSeqs.Savepoint
    )

    private(set) var nextSeq: Int64
    private(set) var nextFactSeq: Int64
    var positions = ActivityPositions()
    /// Places of the events of the last placed batch.
    private(set) var places: [Place] = []
    /// For each fact of that batch, its tenant and its place among the tenant's facts.
    private(set) var factPlaces: [(tenant: Int64, tenantSeq: Int64)] = []
    /// How many events and facts each tenant has.
    var seqs = TenantSeqs()
    var tenantTable = Tenants()
    var keys = KeyHashTable()
    private var newKeys: [(hash: UInt64, seq: Int64)] = []
    /// Retired activities that the last batch restarted, and the days on which they had ended.
    private(set) var revived: [(activity: Int64, day: Int64)] = []
    let hash: KeyedHash

    /// State of a log whose newest sequences are `last`; an empty log by default.
    init(after last: ByKind<Int64> = ByKind(event: 0, fact: 0), hash: KeyedHash) {
        (nextSeq, nextFactSeq, self.hash) = (last.event + 1, last.fact + 1, hash)
    }

    var last: ByKind<Int64> { ByKind(event: nextSeq - 1, fact: nextFactSeq - 1) }

    var highestTenant: Int64 { tenantTable.highest }

    /// True if all rows belong to one tenant, so that its places equal the log's sequences.
    var isSole: Bool {
        let tally = seqs.tally(1)
        return highestTenant == 1 && (tally.event.gap, tally.fact.gap) == (0, 0)
            && tally.event.last == nextSeq - 1 && tally.fact.last == nextFactSeq - 1
    }

    // MARK: Placing

    /// Gives each event its place, or throws and changes nothing. `row` fetches the event at a
    /// sequence; nil means that its row is damaged. A damaged event with the same key hash counts
    /// as having the same key: 64-bit hashes rarely collide, and a duplicate event is worse than a
    /// refused one.
    mutating func place(
        _ batch: AppendBatch, as imported: ImportedPlaces? = nil, row: (Int64) -> NewEvent?,
        anchor: (Int64) -> Int64, retired: (Int64) -> (position: ActivityPosition, day: Int64)?
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
                // In an import, duplicate keys are allowed: the other log may have accepted them.
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
        _ activity: Int64, _ retired: (Int64) -> (position: ActivityPosition, day: Int64)?
    ) {
        guard positions.mayHaveRetired(activity), let (position, day) = retired(activity) else {
            return
        }
        positions.set(activity, position)
        revived.append((activity, day))
    }

    private mutating func place(
        _ event: NewEvent, isImported: Bool, anchor: (Int64) -> Int64,
        row: (Int64) -> NewEvent?
    ) throws(EventLogError) {
        let tenant = tenantTable.number(event.tenant)
        let tenantSeq = seqs.count(.event, tenant, at: nextSeq)
        let position = try positions.advance(
            event.activity, expectedVersion: event.expectedVersion, tenant: tenant, seq: nextSeq,
            tenantSeq: tenantSeq, anchor: anchor)
        var place = Place(
            tenant: tenant, tenantSeq: tenantSeq, previous: position.seq,
            anchor: max(0, position.anchor),
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
        // Fast path: each activity has one event, and heads are in the order of the events.
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

    // MARK: Undoing

    var savepoint: Savepoint {
        (
            positions.savepoint, newKeys.count, nextSeq, nextFactSeq, tenantTable.stored,
            seqs.savepoint
        )
    }

    /// Undoes all changes since `savepoint`. Rows of tenants that were written stay.
    mutating func takeBack(to savepoint: Savepoint) {
        positions.takeBack(to: savepoint.positions)
        seqs.takeBack(to: savepoint.seqs)
        while newKeys.count > savepoint.keys, let (hash, seq) = newKeys.popLast() {
            keys.remove(hash, seq: seq)
        }
        nextSeq = savepoint.nextSeq
        nextFactSeq = savepoint.nextFactSeq
    }

    /// Like `takeBack`, but the transaction was rolled back too, and with it the rows of tenants.
    mutating func rollBack(to savepoint: Savepoint) {
        takeBack(to: savepoint)
        tenantTable.stored = savepoint.tenants
        seqs.rolledBack()
    }

    /// Call it when the placed rows are durable.
    mutating func settle() {
        positions.settle()
        seqs.settle()
        newKeys.removeAll(keepingCapacity: true)
    }
}
