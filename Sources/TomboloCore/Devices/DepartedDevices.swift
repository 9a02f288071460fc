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

    /// A deleted device by its name, or an erased one by a hash of it.
    enum Name: Hashable, Sendable {
        case deleted(DeviceKey)
        case erased(Int64)
    }

    private var entries: [Name: Entry] = [:]
    /// All entries in order of departure, and some that are removed already.
    private var order: [(number: Int64, name: Name)] = []
    private var first = 0

    subscript(name: Name) -> Entry? { entries[name] }

    /// Adds the owner of a deleted device, or what remains of an erased one. Returns the records to
    /// write.
    mutating func add(_ name: Name, _ entry: Entry) -> [Record] {
        var records = remove(name)
        place(name, entry)
        records.append(Self.record(name, entry))
        while entries.count > Self.countMax {
            let oldest = order[first]
            first += 1
            if entries[oldest.name]?.number == oldest.number { records += remove(oldest.name) }
        }
        if order.count > 2 * entries.count + 64 {
            order = order[first...].filter { entries[$0.name]?.number == $0.number }
            first = 0
        }
        return records
    }

    /// Removes an entry after a registration or an erasure. Returns the records that delete it.
    mutating func remove(_ name: Name) -> [Record] {
        entries.removeValue(forKey: name).map {
            [Record(space: .device, number: $0.number, value: nil)]
        } ?? []
    }

    /// Restores an entry. Returns false if the record is not that of a departed device.
    mutating func adopt(_ record: Record) -> Bool {
        guard let (name, entry) = Self.departed(by: record) else { return false }
        place(name, entry)
        return true
    }

    /// Adds an entry to memory only.
    mutating func place(_ name: Name, _ entry: Entry) {
        entries[name] = entry
        order.append((entry.number, name))
    }

    // MARK: Records

    private static func record(_ name: Name, _ entry: Entry) -> Record {
        Record(space: .device, number: entry.number) { writer in
            switch name {
            case .deleted(let key):
                writer.member("tenant", key.tenant.name.rawValue)
                writer.member("departed", key.id.rawValue)
            case .erased(let hash): writer.member("erased", hash)
            }
            writer.named("owner") { entry.owner.write(into: &$0) }
        }
    }

    /// Nil if the record is not one of a departed device.
    static func departed(by record: Record) -> (Name, Entry)? {
        // The nil result reports the damage, so the error is dropped.
        guard let view = record.value.flatMap({ try? JSONDocument($0) })?.root,
            let owner = view["owner"].flatMap({ DeviceOwner(reading: $0) })
        else { return nil }
        let entry = Entry(number: record.number, owner: owner)
        if let hash = view["erased"]?.integer { return (.erased(hash), entry) }
        guard let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let id = view["departed"]?.string.flatMap(Identifier.init)
        else { return nil }
        return (.deleted(DeviceKey(tenant: TenantID(tenant), id: id)), entry)
    }
}

extension DeviceOwner {
    /// Writes the JSON that `init(reading:)` reads.
    func write(into writer: inout JSONWriter) {
        writer.object { writer in
            if let user { writer.member("user", user) }
            writer.member("key", key)
            if erasedThrough > 0 { writer.member("erased_through", erasedThrough) }
        }
    }

    init?(reading view: JSONView) {
        guard let key = view["key"]?.integer else { return nil }
        self.init(
            user: view["user"]?.string, key: key,
            erasedThrough: view["erased_through"]?.integer ?? 0)
    }
}
