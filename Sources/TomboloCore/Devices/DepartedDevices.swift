import TomboloJSON

/// The former owners of deleted devices. A key that was minted for a former owner cannot register
/// the device again.
///
/// A device without an owner has no entry. A registration or an erasure removes the entry.
struct DepartedDevices: Sendable {
    struct Entry: Sendable {
        /// Number of the deleted device; the entry's record has the same number.
        var number: Int64
        var owner: DeviceOwner
    }

    /// Maximum number of entries, of about 0.2 kB each. Above it the oldest one is removed; so
    /// operators should delete the keys of users who sign out.
    static let countMax = 50_000

    private var entries: [DeviceKey: Entry] = [:]
    /// All entries in order of departure, and some that are removed already.
    private var order: [(number: Int64, key: DeviceKey)] = []
    private var first = 0

    subscript(key: DeviceKey) -> Entry? { entries[key] }

    /// Adds the owner of a deleted device. Returns the records to write.
    mutating func add(_ key: DeviceKey, _ entry: Entry) -> [Record] {
        var records = remove(key)
        place(key, entry)
        records.append(Self.record(key, entry))
        while entries.count > Self.countMax {
            let oldest = order[first]
            first += 1
            if entries[oldest.key]?.number == oldest.number { records += remove(oldest.key) }
        }
        if order.count > 2 * entries.count + 64 {
            order = order[first...].filter { entries[$0.key]?.number == $0.number }
            first = 0
        }
        return records
    }

    /// Removes an entry after a registration or an erasure. Returns the records that delete it.
    mutating func remove(_ key: DeviceKey) -> [Record] {
        entries.removeValue(forKey: key).map {
            [Record(space: .device, number: $0.number, value: nil)]
        } ?? []
    }

    /// Restores an entry. Returns false if the record is not that of a departed device.
    mutating func adopt(_ record: Record) -> Bool {
        guard let (key, entry) = Self.read(record) else { return false }
        place(key, entry)
        return true
    }

    /// Adds an entry to memory only.
    mutating func place(_ key: DeviceKey, _ entry: Entry) {
        entries[key] = entry
        order.append((entry.number, key))
    }

    // MARK: Records

    private static func record(_ key: DeviceKey, _ entry: Entry) -> Record {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("tenant", key.tenant.name.rawValue)
        writer.member("departed", key.id.rawValue)
        writer.name("owner")
        entry.owner.write(into: &writer)
        writer.endObject()
        return Record(space: .device, number: entry.number, value: writer.bytes)
    }

    /// Nil if the record is not one of a departed device.
    static func read(_ record: Record) -> (DeviceKey, Entry)? {
        // The nil result reports the damage, so the error is dropped.
        guard let view = record.value.flatMap({ try? JSONDocument($0) })?.root,
            let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let id = view["departed"]?.string.flatMap(Identifier.init),
            let owner = view["owner"].flatMap({ DeviceOwner(reading: $0) })
        else { return nil }
        return (
            DeviceKey(tenant: TenantID(tenant), id: id), Entry(number: record.number, owner: owner)
        )
    }
}

extension DeviceOwner {
    /// Writes the JSON that `init(reading:)` reads.
    func write(into writer: inout JSONWriter) {
        writer.beginObject()
        if let user { writer.member("user", user) }
        writer.member("key", key)
        writer.endObject()
    }

    init?(reading view: JSONView) {
        guard let key = view["key"]?.integer else { return nil }
        self.init(user: view["user"]?.string, key: key)
    }
}
