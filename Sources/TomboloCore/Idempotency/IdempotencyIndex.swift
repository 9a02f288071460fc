/// Idempotency keys of the last 24 hours, as hashes. Each process hashes with another secret, so
/// that clients cannot cause collisions.
///
/// All times are monotonic: if the wall clock jumps ahead, no key expires.
struct IdempotencyIndex: Sendable {
    enum Entry: Sendable {
        /// The key's event is not durable yet.
        case running
        /// The event is in the log. For a repetition, the caller compares the full request.
        case recorded(seq: Int64)
    }

    private var entries = ShardedDictionary<Int, Entry>()
    private var byAge = ChunkedQueue<(hash: Int, at: Instant, owner: Int32)>()
    private var owners: [TenantID: Int32] = [:]
    /// Number of keys of each tenant, by the tenant's value in `owners`.
    private var counts: [Int] = []

    private var recovered = RecoveredKeys()

    var count: Int { entries.count + recovered.count }

    /// Number of a tenant's keys without those from before the restart, whose tenants are not
    /// known.
    func count(of tenant: TenantID) -> Int { owners[tenant].map { counts[Int($0)] } ?? 0 }

    mutating func recover(_ keys: RecoveredKeys) { recovered = keys }

    /// The entry of a key that was used since the start of this process.
    subscript(_ tenant: TenantID, _ key: String) -> Entry? { entries[Self.hash(tenant, key)] }

    /// The entry of a key, also from before the restart.
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
        byAge.enqueue((hash, instant, owner))
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

    mutating func forget(before limit: Instant) {
        recovered.forget(before: limit)
        while let oldest = byAge.first, oldest.at < limit {
            set(oldest.hash, nil, oldest.owner)
            byAge.removeFirst()
        }
    }

    private static func hash(_ tenant: TenantID, _ key: String) -> Int {
        var hasher = Hasher()
        hasher.combine(tenant)
        hasher.combine(bytesOf: key)
        return hasher.finalize()
    }
}
