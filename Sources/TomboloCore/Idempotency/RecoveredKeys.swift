/// Idempotency keys that the last relay left: hashes and sequences, without the keys themselves, so
/// that a start-up with millions of them reads no row of the log.
///
/// A hash that agrees is taken for the key; whoever answers compares the key and its digest in the
/// event's row, and refuses what only collides. Keys stand for at least 24 hours and, after a
/// restart, at most one hour more: only their hour is known. All times are steady ones.
package struct RecoveredKeys: Sendable {
    /// Keys of one hour begin at a sequence.
    private struct Hour: Sendable {
        var hour: Int64
        var firstSeq: Int64
        var count = 0
    }

    /// With the log's own key.
    let hash: KeyedHash
    private let tenants: [TenantID: Int64]
    package private(set) var table = KeyHashTable()
    package private(set) var count = 0
    /// In the order of the sequences.
    private var hours: [Hour] = []

    /// None.
    package init() { self.init(hash: KeyedHash(key0: 0, key1: 0), tenants: [:]) }

    /// - Parameters:
    ///   - hash: with which the hashes that `insert` gets were made, of tenant's number and key.
    ///   - tenants: their numbers.
    package init(hash: KeyedHash, tenants: [TenantID: Int64]) {
        self.hash = hash
        self.tenants = tenants
    }

    /// There will be about so many.
    package mutating func reserve(_ count: Int) { table.reserve(count) }

    /// Keys of one hour more, each with its sequence; hours only rise.
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

    /// The newest event with this key, if the key may still stand at `now`.
    package func seq(of key: String, tenant: TenantID, at now: Instant) -> Int64? {
        guard let number = tenants[tenant], !hours.isEmpty else { return nil }
        return table.newest(hash(number, key)) { seq in
            let hour = hours.last { $0.firstSeq <= seq } ?? hours[0]
            return hour.hour >= IdempotencyKey.hour(of: now - IdempotencyKey.window)
        }
    }

    /// Keys of hours before that of `limit` count no longer.
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
    /// For how long a key stands for its event: a key recorded exactly this long ago still does.
    package static let window = Span.hours(24)

    /// Keys are kept by the hour of steady time.
    package static func hour(of instant: Instant) -> Int64 {
        floorDivide(instant.nanoseconds, Span.hours(1).nanoseconds)
    }
}
