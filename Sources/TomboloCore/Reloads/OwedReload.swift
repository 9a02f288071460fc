import TomboloJSON

/// The reloads owed after a change of an activity. It is on record with the change until each
/// device's own wish is on record, so the reloads survive the relay's death at any time.
struct OwedReload: Hashable, Sendable {
    /// The activity's number.
    let number: Int64
    let activity: ActivityKey
    /// The apps whose widgets show something else of the activity; nil means all.
    var apps: Set<String>?
    /// Whether the reloads that the type wants after a change (`reloads`) are owed.
    var followsType = false

    var record: Record {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("tenant", activity.tenant.name.rawValue)
        writer.member("activity", activity.id.rawValue)
        if let apps {
            writer.name("apps")
            writer.beginArray()
            for app in apps.sorted() { writer.string(app) }
            writer.endArray()
        }
        if followsType { writer.member("follows_type", true) }
        writer.endObject()
        return Record(space: .owedReload, number: number, value: writer.bytes)
    }
}

extension OwedReload {
    /// - Parameter apps: nil means all.
    init(_ activity: Activity, apps: Set<String>? = nil) {
        self.init(number: activity.number.rawValue, activity: activity.key, apps: apps)
    }

    /// What the relay before owed; unreadable records are added to `damage`.
    static func all(in records: [Record], _ damage: inout [String]) -> [OwedReload] {
        records.filter { $0.space == .owedReload }.compactMap { record in
            if let owed = OwedReload(record: record) { return owed }
            damage.append("the reload that activity number \(record.number) owes cannot be read")
            return nil
        }
    }

    /// Nil if the record cannot be read.
    init?(record: Record) {
        // Damage is the answer.
        guard let view = record.value.flatMap({ try? JSONDocument($0) })?.root,
            let tenant = view["tenant"]?.string.flatMap(Identifier.init),
            let id = view["activity"]?.string.flatMap(Identifier.init)
        else { return nil }
        self.init(
            number: record.number, activity: ActivityKey(tenant: TenantID(tenant), id: id),
            apps: view["apps"].map { Set($0.elements.compactMap(\.string)) },
            followsType: view["follows_type"] != nil)
    }
}
