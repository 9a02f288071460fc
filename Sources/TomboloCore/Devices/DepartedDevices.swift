import TomboloJSON

/// The former owners of deleted devices, so that an owner's key from before cannot register the
/// device again.
///
/// A device without an owner is not listed. A registration or an erasure removes the entry.
struct DepartedDevices: Sendable {
    struct Entry: Sendable {
        /// The number of the device and of its record.
        var number: Int64
        var owner: DeviceOwner
    }

    /// Most entries, of about 0.2 kB each. Beyond it the oldest is forgotten: operators should
    /// delete the keys of users who sign out.
    static let countMax = 50_000

    private var entries: [DeviceKey: Entry] = [:]
    /// In order of departure; some entries are removed already.
    private var order: [(number: Int64, key: DeviceKey)] = []
    private var first = 0

    subscript(key: DeviceKey) -> Entry? { entries[key] }

    /// Adds a departed device. Returns the records to write.
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

    /// Removes an entry after a registration or an erasure. Returns the records to delete.
    mutating func remove(_ key: DeviceKey) -> [Record] {
        entries.removeValue(forKey: key).map {
            [Record(space: .device, number: $0.number, value: nil)]
        } ?? []
    }

    /// Restores an entry from its record. Returns false if it is no record of a departed device.
    mutating func adopt(_ record: Record) -> Bool {
        guard let (key, entry) = Self.read(record) else { return false }
        place(key, entry)
        return true
    }

    /// Adds an entry whose record is still the device's own.
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
        // Damage is the answer.
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
    /// Writes the form that `init(reading:)` reads.
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
