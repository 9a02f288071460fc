/// Idempotency keys from before the restart, as hashes with sequence numbers. So start-up need not
/// read the keys from millions of rows.
///
/// If a hash is equal, the caller compares key and digest in the event's row; different keys with
/// one hash are refused. Keys are valid for 24 hours. After a restart they may be valid for one
/// hour more, because only their hour is known. All times are monotonic.
package struct RecoveredKeys: Sendable {
    /// The keys of one hour: those of events from `firstSeq` to the next hour's first.
    private struct Hour: Sendable {
        var hour: Int64
        var firstSeq: Int64
        var count = 0
    }

    /// The hash function with the log's own key.
    let hash: KeyedHash
    private let tenants: [TenantID: Int64]
    package private(set) var table = KeyHashTable()
    package private(set) var count = 0
    /// Ascending, by hour and by sequence number.
    private var hours: [Hour] = []

    /// An empty set.
    package init() { self.init(hash: KeyedHash(key0: 0, key1: 0), tenants: [:]) }

    /// - Parameters:
    ///   - hash: the function with which the inserted hashes are made, from tenant number and key.
    ///   - tenants: the numbers of the tenants.
    package init(hash: KeyedHash, tenants: [TenantID: Int64]) {
        self.hash = hash
        self.tenants = tenants
    }

    /// Makes room for about `count` keys.
    package mutating func reserve(_ count: Int) { table.reserve(count) }

    /// Adds keys of one hour with their sequence numbers. Hours must come in ascending order.
    package mutating func insert(
        _ hashes: ArraySlice<UInt64>, seqs: ArraySlice<Int64>, hour: Int64
    ) {
        guard let first = seqs.first else { return }
        if hours.last.map({ $0.hour < hour }) ?? true {
            hours.append(Hour(hour: hour, firstSeq: first))
        }
        hours[hours.count - 1].count += hashes.count
        table.insert(hashes, seqs: seqs)
        count += hashes.count
    }

    /// The newest event whose key has the same hash, if the key may still be valid at `now`.
    package func seq(of key: String, tenant: TenantID, at now: Instant) -> Int64? {
        guard let number = tenants[tenant], !hours.isEmpty else { return nil }
        return table.newest(hash(number, key)) { seq in
            let hour = hours.last { $0.firstSeq <= seq } ?? hours[0]
            return hour.hour >= IdempotencyKey.hour(of: now - IdempotencyKey.window)
        }
    }

    /// Forgets the keys of hours before that of `limit`.
    mutating func forget(before limit: Instant) {
        let first = IdempotencyKey.hour(of: limit)
        guard let oldest = hours.first, oldest.hour < first else { return }
        let past = hours.prefix { $0.hour < first }
        count -= past.reduce(0) { $0 + $1.count }
        hours.removeFirst(past.count)
        if let next = hours.first {
            table.expire(below: next.firstSeq)
        } else {
            table = KeyHashTable()
        }
    }
}

extension IdempotencyKey {
    /// How long a key is valid after its event. A key of exactly this age is still valid.
    package static let window = Span.hours(24)

    /// The hour of a monotonic time. Keys in the log are grouped by it.
    package static func hour(of instant: Instant) -> Int64 {
        floorDivide(instant.nanoseconds, Span.hours(1).nanoseconds)
    }
}
