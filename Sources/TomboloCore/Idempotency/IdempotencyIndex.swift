/// Keys of the last 24 hours. The hash has a key of its own in every process, so that nobody can
/// aim at it.
///
/// All times are steady: a wall clock that jumps ahead makes no key older.
struct IdempotencyIndex: Sendable {
    enum Entry: Sendable {
        /// Its event is not durable yet.
        case running
        /// `digest` is nil where only the log knows it: the replay compares.
        case recorded(seq: Int64, digest: UInt64?)
    }

    private var entries: [Int: Entry] = [:]
    private var byAge: [(hash: Int, at: Instant)] = []
    private var head = 0

    /// What the last relay left.
    private var recovered = RecoveredKeys()

    /// How many there are, of before this relay's start too.
    var count: Int { entries.count + recovered.count }

    mutating func recover(_ keys: RecoveredKeys) { recovered = keys }

    /// What came while this relay runs.
    subscript(_ tenant: TenantID, _ key: String) -> Entry? { entries[Self.hash(tenant, key)] }

    /// What stands for a key, from before this relay's start too.
    func entry(_ tenant: TenantID, _ key: String, at now: Instant) -> Entry? {
        self[tenant, key]
            ?? recovered.seq(of: key, tenant: tenant, at: now).map {
                .recorded(seq: $0, digest: nil)
            }
    }

    mutating func run(_ tenant: TenantID, _ key: String) {
        entries[Self.hash(tenant, key)] = .running
    }

    mutating func drop(_ tenant: TenantID, _ key: String) { entries[Self.hash(tenant, key)] = nil }

    mutating func record(
        _ tenant: TenantID, _ key: IdempotencyKey, seq: Int64, at instant: Instant
    ) {
        let hash = Self.hash(tenant, key.key)
        entries[hash] = .recorded(seq: seq, digest: key.bodyDigest)
        byAge.append((hash, instant))
    }

    /// Forgets what is older than `limit`, a few at a time.
    mutating func forget(before limit: Instant) {
        if recovered.areAllBefore(limit) { recovered = RecoveredKeys() }
        while head < byAge.count, byAge[head].at < limit {
            entries[byAge[head].hash] = nil
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
        hasher.combine(key)
        return hasher.finalize()
    }
}
