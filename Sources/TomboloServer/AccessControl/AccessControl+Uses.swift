import TomboloCore

// When keys were used last, and keys that nobody can use any more.

extension AccessControl {
    /// The log is at most so far behind what keys were used for.
    static let useKept = Span.hours(1)
    /// An expired key is listed for so long: its user asks why it opens nothing. Counted on the
    /// relay's clock that nobody sets: a wall clock that jumps ahead deletes no key.
    static let expiredKept = Span.hours(30 * 24)

    /// Records that differ from the log by a use of at least `age` after the one it has. A key
    /// whose deletion is under way is none: it would come back.
    func usesToStore(olderThan age: Span) -> [KeyRecord] {
        keys.values.filter { record in
            guard let used = record.lastUsedAt, isFree(record.id) else { return false }
            return storedUses[record.id].map { used - $0 > age || $0 > used } ?? true
        }.sorted { $0.number < $1.number }
    }

    /// The log has them.
    func noteStored(_ record: KeyRecord) { storedUses[record.id] = record.lastUsedAt }

    /// Whether no deletion and no rotation of the key is on its way to the log.
    func isFree(_ id: String) -> Bool { !leaving.contains(id) && !rotating.contains(id) }

    /// Ids of keys that have expired since they were looked at, or have not any more: the wall
    /// clock was set back.
    func changedExpiry() -> [String] {
        let now = now()
        return keys.values.filter { $0.isExpired(at: now) != ($0.expiredSince != nil) }
            .sorted { $0.number < $1.number }.map(\.id)
    }

    /// A key's record with the time since when it has been expired; nil where there is nothing to
    /// store now.
    func notingExpiry(_ id: String, at steady: Instant) -> KeyRecord? {
        guard var record = keys[id], isFree(id) else { return nil }
        record.expiredSince = record.isExpired(at: now()) ? record.expiredSince ?? steady : nil
        return record
    }

    /// Keys of a device that live and are bound to another user than this one: those who had it
    /// before.
    func keysOfOthers(than user: String?, _ device: DeviceKey) -> [KeyRecord] {
        let now = now()
        return records(of: device.tenant).filter { record in
            record.binding.user != nil && !isSameText(record.binding.user, user)
                && record.scopes.contains(.device(device.id)) && !record.isExpired(at: now)
        }
    }

    /// Keys that have been expired for long.
    func outlived(at steady: Instant) -> [KeyRecord] {
        let now = now()
        return keys.values.filter { record in
            isFree(record.id) && record.isExpired(at: now)
                && record.expiredSince.map { steady - $0 > Self.expiredKept } ?? false
        }.sorted { $0.number < $1.number }
    }

    /// A key ends at `end`, unless it does so earlier.
    func ending(_ record: KeyRecord, at end: Instant) -> KeyRecord {
        var record = keys[record.id] ?? record
        record.traits.expiresAt = min(end, record.traits.expiresAt ?? end)
        return record
    }
}
