import TomboloCore

// When keys were used last, and keys that nobody can use any more.

extension AccessControl {
    /// The log is at most so far behind what keys were used for.
    static let useKept = Span.hours(1)
    /// An expired key is listed for so long: its user asks why it opens nothing.
    static let expiredKept = Span.hours(30 * 24)

    /// Records that differ from the log by a use of at least `age` after the one it has. A key
    /// whose deletion is under way is none: it would come back.
    func usesToStore(olderThan age: Span) -> [KeyRecord] {
        keys.values.filter { record in
            guard let used = record.lastUsedAt, !leaving.contains(record.id) else { return false }
            return storedUses[record.id].map { used - $0 > age || $0 > used } ?? true
        }.sorted { $0.number < $1.number }
    }

    /// The log has them.
    func noteStored(_ record: KeyRecord) { storedUses[record.id] = record.lastUsedAt }

    /// Keys that expired long ago.
    var outlived: [KeyRecord] {
        let now = now()
        return keys.values.filter { record in
            !leaving.contains(record.id)
                && record.traits.expiresAt.map { now - $0 > Self.expiredKept } ?? false
        }.sorted { $0.number < $1.number }
    }

    /// A key ends at `end`, unless it does so earlier.
    func ending(_ record: KeyRecord, at end: Instant) -> KeyRecord {
        var record = keys[record.id] ?? record
        record.traits.expiresAt = min(end, record.traits.expiresAt ?? end)
        return record
    }
}
