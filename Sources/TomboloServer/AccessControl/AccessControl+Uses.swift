import TomboloCore

// The last use of keys, and the removal of old expired keys.

extension AccessControl {
    /// The stored time of a key's last use is at most this far behind the actual one.
    static let useKept = Span.hours(1)
    /// How long an expired key stays listed, so that its user can find out why it fails. Measured
    /// on the relay's monotonic clock, so that a wall clock that jumps ahead deletes no key.
    static let expiredKept = Span.hours(30 * 24)

    /// Records whose last use must be stored: it is more than `age` after the stored time, or
    /// before it. Leaves out keys being deleted or rotated: storing the old record would undo this.
    func usesToStore(olderThan age: Span) -> [KeyRecord] {
        keys.values.filter { record in
            guard let used = record.lastUsedAt, isFree(record.id) else { return false }
            return storedUses[record.id].map { used - $0 > age || $0 > used } ?? true
        }.sorted { $0.number < $1.number }
    }

    /// Notes that the log now holds this record.
    func noteStored(_ record: KeyRecord) { storedUses[record.id] = record.lastUsedAt }

    /// True if neither a deletion nor a rotation of the key is being written to the log.
    func isFree(_ id: String) -> Bool { !leaving.contains(id) && !rotating.contains(id) }

    /// Ids of keys whose expiry has changed since the last check: they have expired, or they are
    /// valid again because the wall clock was set back.
    func changedExpiry() -> [String] {
        let now = now()
        return keys.values.filter { $0.isExpired(at: now) != ($0.expiredSince != nil) }
            .sorted { $0.number < $1.number }.map(\.id)
    }

    /// A copy of the key's record with `expiredSince` brought up to date; nil if the key is
    /// unknown, or if its deletion or rotation is being written.
    func notingExpiry(_ id: String, at steady: Instant) -> KeyRecord? {
        guard var record = keys[id], isFree(id) else { return nil }
        record.expiredSince = record.isExpired(at: now()) ? record.expiredSince ?? steady : nil
        return record
    }

    func keysOfOthers(than user: String?, _ device: DeviceKey) -> [KeyRecord] {
        let now = now()
        return records(of: device).filter { record in
            record.binding.user != nil && !isSameText(record.binding.user, user)
                && !record.isExpired(at: now)
        }
    }

    /// For each valid key of the device: the user to which it is bound, or nil.
    func boundUsers(of device: DeviceKey) -> [String?] {
        let now = now()
        return records(of: device).filter { !$0.isExpired(at: now) }.map(\.binding.user)
    }

    /// Keys that have been expired for longer than `expiredKept`. They can be deleted.
    func outlived(at steady: Instant) -> [KeyRecord] {
        let now = now()
        return keys.values.filter { record in
            isFree(record.id) && record.isExpired(at: now)
                && record.expiredSince.map { steady - $0 > Self.expiredKept } ?? false
        }.sorted { $0.number < $1.number }
    }

    /// A copy of the key's record that expires at `end`, or earlier if the key does.
    func ending(_ record: KeyRecord, at end: Instant) -> KeyRecord {
        var record = keys[record.id] ?? record
        record.traits.expiresAt = min(end, record.traits.expiresAt ?? end)
        return record
    }
}
