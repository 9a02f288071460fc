import TomboloCore
import TomboloEventLog

/// The in-memory log's content and rules, as a value: a copy is a snapshot.
struct StoredLog: Sendable {
    struct Head: Sendable {
        var tenant: TenantID?
        var version: Int64 = 0
        var seq: Int64 = 0
        var tenantSeq: Int64 = 0
        var value: [UInt8] = []
    }

    private struct HeldKey: Hashable, Sendable {
        var tenant: TenantID
        var key: String
    }

    private struct RecordPlace: Hashable, Comparable, Sendable {
        var space: UInt8
        var number: Int64

        static func < (one: RecordPlace, other: RecordPlace) -> Bool {
            (one.space, one.number) < (other.space, other.number)
        }
    }

    /// The event of sequence n is at n - 1; likewise the facts.
    var events: [RecordedEvent] = []
    var facts: [RecordedFact] = []
    var heads: [ActivityNumber: Head] = [:]
    /// The sequences of each activity, rising.
    private(set) var chains: [ActivityNumber: [Int64]] = [:]
    /// The sequences of each tenant's events and facts, rising.
    private(set) var eventsOf: [TenantID: [Int64]] = [:]
    private(set) var factsOf: [TenantID: [Int64]] = [:]
    /// Their heads are in `heads` still, but do not live.
    var retiredNames: [ActivityNumber: Identifier] = [:]
    /// Nothing but their numbers is left.
    var erased: Set<ActivityNumber> = []
    private var records: [RecordPlace: [UInt8]] = [:]
    /// The newest event of each key.
    private var keys: [HeldKey: Int64] = [:]
    /// When events with a key were recorded, on the clock that nobody sets.
    private var keyTimes: [Int64: Instant] = [:]

    /// Stores all of `batch`, or nothing and throws.
    mutating func append(_ batch: AppendBatch) throws(EventLogError) -> AppendReceipt {
        try check(batch)
        var receipt = AppendReceipt(
            firstSeq: Int64(events.count) + 1, firstFactSeq: Int64(facts.count) + 1)
        for event in batch.events {
            if event.idempotency != nil {
                keyTimes[Int64(events.count) + 1] = event.recordedAt - (batch.lead ?? .zero)
            }
            receipt.tenantSeqs.append(store(event))
        }
        for head in batch.heads { heads[head.activity, default: Head()].value = head.value }
        for fact in batch.facts { receipt.tenantFactSeqs.append(store(fact)) }
        for record in batch.records {
            let place = RecordPlace(space: record.space.rawValue, number: record.number)
            records[place] = record.value
        }
        for one in batch.retired where heads[one.activity] != nil {
            retiredNames[one.activity] = one.name
        }
        return receipt
    }

    /// Every version and key of the batch, against the log and against the batch's own earlier
    /// events.
    private func check(_ batch: AppendBatch) throws(EventLogError) {
        let touched = Set(batch.heads.map(\.activity))
        var versions: [ActivityNumber: Int64] = [:]
        var taken: [HeldKey: Int64] = [:]
        for (index, event) in batch.events.enumerated() {
            precondition(
                touched.contains(event.activity),
                "a batch carries a head for each activity that its events touch")
            let head = heads[event.activity]
            precondition(
                head?.tenant == nil || head?.tenant == event.tenant,
                "an activity belongs to one tenant for ever")
            let version = versions[event.activity] ?? head?.version ?? 0
            guard version == event.expectedVersion else {
                throw .versionConflict(
                    activity: event.activity, expected: event.expectedVersion, actual: version)
            }
            versions[event.activity] = version + 1
            guard let key = event.idempotency else { continue }
            let held = HeldKey(tenant: event.tenant, key: key.key)
            let now = event.recordedAt - (batch.lead ?? .zero)
            if let seq = taken[held] ?? keys[held].flatMap({ holds($0, at: now) }) {
                throw .duplicateKey(key, seq: seq)
            }
            taken[held] = Int64(events.count + index) + 1
        }
    }

    /// `seq` if its key still leads to it.
    private func holds(_ seq: Int64, at now: Instant) -> Int64? {
        keyTimes[seq].map { $0 >= now - IdempotencyKey.window } == true ? seq : nil
    }

    /// Answers its place among those of its tenant.
    private mutating func store(_ fact: NewFact) -> Int64 {
        let seq = Int64(facts.count) + 1
        factsOf[fact.tenant, default: []].append(seq)
        let tenantSeq = Int64(factsOf[fact.tenant]?.count ?? 0)
        facts.append(RecordedFact(seq: seq, tenantSeq: tenantSeq, fact: fact))
        return tenantSeq
    }

    /// Answers its place among those of its tenant.
    private mutating func store(_ event: NewEvent) -> Int64 {
        let seq = Int64(events.count) + 1
        eventsOf[event.tenant, default: []].append(seq)
        let tenantSeq = Int64(eventsOf[event.tenant]?.count ?? 0)
        var head = heads[event.activity] ?? Head()
        events.append(
            RecordedEvent(seq: seq, tenantSeq: tenantSeq, previous: head.seq, event: event))
        chains[event.activity, default: []].append(seq)
        head.tenant = event.tenant
        head.version += 1
        head.seq = seq
        head.tenantSeq = tenantSeq
        heads[event.activity] = head
        retiredNames[event.activity] = nil
        if let key = event.idempotency {
            keys[HeldKey(tenant: event.tenant, key: key.key)] = seq
        }
        return tenantSeq
    }

    func recover(idempotencySince: Instant) -> RecoveredLog {
        var recovered = RecoveredLog()
        recovered.lastSeq = Int64(events.count)
        recovered.lastFactSeq = Int64(facts.count)
        for (tenant, all) in eventsOf {
            recovered.places[tenant, default: .none].command = Int64(all.count)
        }
        for (tenant, all) in factsOf {
            recovered.places[tenant, default: .none].fact = Int64(all.count)
        }
        recovered.heads = heads.filter { retiredNames[$0.key] == nil && !erased.contains($0.key) }
            .sorted { $0.key < $1.key }.map(Self.recovered)
        recovered.lastActivity = heads.keys.max()?.rawValue ?? 0
        recovered.hasRetired = !retiredNames.isEmpty || !erased.isEmpty
        recovered.records = records.sorted { $0.key < $1.key }.compactMap { place, value in
            RecordSpace(rawValue: place.space).map {
                Record(space: $0, number: place.number, value: value)
            }
        }
        recovered.idempotency = recoveredKeys(since: idempotencySince)
        return recovered
    }

    private static func recovered(_ activity: ActivityNumber, _ head: Head) -> RecoveredHead {
        RecoveredHead(
            activity: activity, version: head.version, seq: head.seq, tenantSeq: head.tenantSeq,
            value: head.value)
    }

    func retired(named keys: [ActivityKey]) -> [RecoveredHead] {
        keys.compactMap { key in
            let found = retiredNames.filter {
                $0.value == key.id && heads[$0.key]?.tenant == key.tenant
            }
            guard let activity = found.keys.max(), let head = heads[activity] else { return nil }
            return Self.recovered(activity, head)
        }
    }

    func retired(_ activity: ActivityNumber, tenant: TenantID) -> RecoveredHead? {
        guard retiredNames[activity] != nil, let head = heads[activity], head.tenant == tenant
        else { return nil }
        return Self.recovered(activity, head)
    }

    private func recoveredKeys(since: Instant) -> RecoveredKeys {
        let names = Set(keys.keys.map(\.tenant)).sorted()
        let numbers = Dictionary(
            uniqueKeysWithValues: names.enumerated().map { ($1, Int64($0) + 1) })
        let hash = KeyedHash(key0: 0, key1: 0)
        var recovered = RecoveredKeys(hash: hash, tenants: numbers)
        for (held, seq) in keys.sorted(by: { $0.value < $1.value }) {
            let hour = IdempotencyKey.hour(of: keyTimes[seq] ?? .distantPast)
            guard hour >= IdempotencyKey.hour(of: since) else { continue }
            recovered.insert(
                [hash(numbers[held.tenant] ?? 0, held.key)], seqs: [seq], hour: hour)
        }
        return recovered
    }
}
