/// What waits for the disk, and who waits for it.
struct Staged: Sendable {
    /// An accepted event: what becomes true when it is durable.
    struct Event: Sendable {
        var event: NewEvent
        var activity: Int
        var incarnation: Int64
        var projection: Projection
        var content: Command.Content
        var definition: Activity.Definition?
        var plan: (clip: Clip, payloadBytes: Int)?
    }

    /// How a ticket is answered when its batch is durable.
    enum Waiting: Sendable {
        case event(index: Int, Ticket)
        case events(indices: [Int], Ticket)
        /// Nothing new, but what stands so already must be durable first.
        case standing(activity: Int, EventKind, Ticket)
    }

    var events: [Event] = []
    var waiting: [Waiting] = []
    var stored: [(Ticket, Stored)] = []
    var touched: [Int] = []
    var facts: [NewFact] = []
    var records: [Record] = []
    /// Destinations whose attempt waits for its reservation.
    var reservations: [Int] = []
    var dirtyMarks: [Int] = []
    /// When lazily kept marks and facts are written although nothing urgent is.
    var flushAt: Instant?

    /// Whether somebody waits.
    var isUrgent: Bool {
        !events.isEmpty || !stored.isEmpty || !reservations.isEmpty || !waiting.isEmpty
            || flushAt == .distantPast
    }

    var isEmpty: Bool { !isUrgent && facts.isEmpty && records.isEmpty && dirtyMarks.isEmpty }
}

/// Keys of the last 24 hours. The hash has a key of its own in every process, so that nobody can
/// aim at it.
struct IdempotencyIndex: Sendable {
    enum Entry: Sendable {
        /// Its event is not durable yet.
        case running
        case recorded(seq: Int64, digest: UInt64)
    }

    private var entries: [Int: Entry] = [:]
    private var byAge: [(hash: Int, at: Instant)] = []
    private var head = 0

    subscript(_ tenant: TenantID, _ key: String) -> Entry? { entries[Self.hash(tenant, key)] }

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
