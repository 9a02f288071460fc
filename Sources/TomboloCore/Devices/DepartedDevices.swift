import TomboloJSON

/// Whose the devices were that were deleted: the key of somebody who had one before them must not
/// bring it back.
///
/// A device that nobody ever had is not here. One leaves when it is registered anew, or erased.
struct DepartedDevices: Sendable {
    struct Entry: Sendable {
        /// The number of the device, and of its record.
        var number: Int64
        var owner: DeviceOwner
    }

    /// One has about 0.2 kB. Beyond so many the one that left first is forgotten: an operator
    /// deletes the keys of those who sign out.
    static let countMax = 50_000

    private var entries: [DeviceKey: Entry] = [:]
    /// In the order in which they left; some are not here any more.
    private var order: [(number: Int64, key: DeviceKey)] = []
    private var first = 0

    subscript(key: DeviceKey) -> Entry? { entries[key] }

    /// A device has left. Answers the current values to write.
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

    /// It is registered anew, or erased. Answers the current values to delete.
    mutating func remove(_ key: DeviceKey) -> [Record] {
        entries.removeValue(forKey: key).map {
            [Record(space: .device, number: $0.number, value: nil)]
        } ?? []
    }

    /// Takes over a record of the last relay. Answers false where it is no departed device's.
    mutating func adopt(_ record: Record) -> Bool {
        guard let (key, entry) = Self.read(record) else { return false }
        place(key, entry)
        return true
    }

    /// Keeps one whose record is the device's own for now.
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

    /// nil where it is no departed device's.
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
    /// As `init(reading:)` reads it.
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
