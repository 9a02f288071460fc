/// Idempotency keys of the last 24 hours. Each process hashes with another secret, so that
/// collisions cannot be planned.
///
/// All times are monotonic: a wall clock that jumps ahead does not expire keys.
struct IdempotencyIndex: Sendable {
    enum Entry: Sendable {
        /// The key's event is not durable yet.
        case running
        /// The log has the event; a replay compares the full request.
        case recorded(seq: Int64)
    }

    private var entries: [Int: Entry] = [:]
    private var byAge: [(hash: Int, at: Instant, owner: Int32)] = []
    private var head = 0
    private var owners: [TenantID: Int32] = [:]
    /// Number of keys of each owner.
    private var counts: [Int] = []

    /// The keys from before the restart.
    private var recovered = RecoveredKeys()

    /// Number of all keys, including those from before the restart.
    var count: Int { entries.count + recovered.count }

    /// Number of a tenant's keys, without those from before the restart, which are only hashes.
    func count(of tenant: TenantID) -> Int { owners[tenant].map { counts[Int($0)] } ?? 0 }

    mutating func recover(_ keys: RecoveredKeys) { recovered = keys }

    /// A key that came while this relay runs.
    subscript(_ tenant: TenantID, _ key: String) -> Entry? { entries[Self.hash(tenant, key)] }

    /// A key, also from before the restart.
    func entry(_ tenant: TenantID, _ key: String, at now: Instant) -> Entry? {
        self[tenant, key]
            ?? recovered.seq(of: key, tenant: tenant, at: now).map {
                .recorded(seq: $0)
            }
    }

    mutating func run(_ tenant: TenantID, _ key: String) {
        set(Self.hash(tenant, key), .running, owner(tenant))
    }

    mutating func drop(_ tenant: TenantID, _ key: String) {
        set(Self.hash(tenant, key), nil, owner(tenant))
    }

    mutating func record(
        _ tenant: TenantID, _ key: IdempotencyKey, seq: Int64, at instant: Instant
    ) {
        let (hash, owner) = (Self.hash(tenant, key.key), owner(tenant))
        set(hash, .recorded(seq: seq), owner)
        byAge.append((hash, instant, owner))
    }

    private mutating func owner(_ tenant: TenantID) -> Int32 {
        if let owner = owners[tenant] { return owner }
        let owner = Int32(counts.count)
        owners[tenant] = owner
        counts.append(0)
        return owner
    }

    private mutating func set(_ hash: Int, _ entry: Entry?, _ owner: Int32) {
        let before = entries.count
        entries[hash] = entry
        counts[Int(owner)] += entries.count - before
    }

    /// Forgets keys older than `limit`, a few at a time.
    mutating func forget(before limit: Instant) {
        recovered.forget(before: limit)
        while head < byAge.count, byAge[head].at < limit {
            set(byAge[head].hash, nil, byAge[head].owner)
            head += 1
        }
        if head > 4_096, head * 2 > byAge.count {
            byAge.removeFirst(head)
            head = 0
        }
    }

    private static func hash(_ tenant: TenantID, _ key: String) -> Int {
        var hasher = Hasher()
        hasher.combine(tenant)
        hasher.combine(bytesOf: key)
        return hasher.finalize()
    }
}
