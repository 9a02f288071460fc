import TomboloCore

// The last use of keys, and the removal of old expired keys.

extension AccessControl {
    /// The logged time of a key's last use is at most this far behind.
    static let useKept = Span.hours(1)
    /// How long an expired key stays listed, so that its user can find out why it fails. By the
    /// relay's monotonic clock: a wall clock that jumps ahead deletes no key.
    static let expiredKept = Span.hours(30 * 24)

    /// Records whose last use is at least `age` after the logged one. Leaves out a key that is
    /// being deleted, because storing it would restore it.
    func usesToStore(olderThan age: Span) -> [KeyRecord] {
        keys.values.filter { record in
            guard let used = record.lastUsedAt, isFree(record.id) else { return false }
            return storedUses[record.id].map { used - $0 > age || $0 > used } ?? true
        }.sorted { $0.number < $1.number }
    }

    /// Notes that the log has this record.
    func noteStored(_ record: KeyRecord) { storedUses[record.id] = record.lastUsedAt }

    /// True if no deletion and no rotation of the key is being written to the log.
    func isFree(_ id: String) -> Bool { !leaving.contains(id) && !rotating.contains(id) }

    /// Ids of keys that have expired since the last check, or that are valid again because the wall
    /// clock was set back.
    func changedExpiry() -> [String] {
        let now = now()
        return keys.values.filter { $0.isExpired(at: now) != ($0.expiredSince != nil) }
            .sorted { $0.number < $1.number }.map(\.id)
    }

    /// A key's record with the time since which it has been expired; nil if the key is unknown or
    /// is being written.
    func notingExpiry(_ id: String, at steady: Instant) -> KeyRecord? {
        guard var record = keys[id], isFree(id) else { return nil }
        record.expiredSince = record.isExpired(at: now()) ? record.expiredSince ?? steady : nil
        return record
    }

    /// Valid keys of a device that are bound to another user than this one: to a former user.
    func keysOfOthers(than user: String?, _ device: DeviceKey) -> [KeyRecord] {
        let now = now()
        return records(of: device.tenant).filter { record in
            record.binding.user != nil && !isSameText(record.binding.user, user)
                && record.scopes.contains(.device(device.id)) && !record.isExpired(at: now)
        }
    }

    /// For each live key of a device, the user that it is bound to.
    func boundUsers(of device: DeviceKey) -> [String?] {
        let now = now()
        return records(of: device.tenant).filter {
            $0.scopes.contains(.device(device.id)) && !$0.isExpired(at: now)
        }.map(\.binding.user)
    }

    /// Keys that have been expired for longer than `expiredKept`.
    func outlived(at steady: Instant) -> [KeyRecord] {
        let now = now()
        return keys.values.filter { record in
            isFree(record.id) && record.isExpired(at: now)
                && record.expiredSince.map { steady - $0 > Self.expiredKept } ?? false
        }.sorted { $0.number < $1.number }
    }

    /// The record of a key that ends at `end`, or at its own earlier end.
    func ending(_ record: KeyRecord, at end: Instant) -> KeyRecord {
        var record = keys[record.id] ?? record
        record.traits.expiresAt = min(end, record.traits.expiresAt ?? end)
        return record
    }
}
