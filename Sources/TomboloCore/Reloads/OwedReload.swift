import TomboloJSON

/// Reloads that must follow a change of an activity. It is stored with the change and deleted when
/// the devices' records contain the wishes, so that a crash loses no reload.
struct OwedReload: Hashable, Sendable {
    let number: Int64
    let activity: ActivityKey
    /// The apps whose widgets show the activity differently now; nil: all.
    var apps: Set<String>?
    /// True if the reloads must follow that the activity's type asks for (`reloads`).
    var followsType = false

    var record: Record {
        Record(space: .owedReload, number: number) { writer in
            writer.member("tenant", activity.tenant.name.rawValue)
            writer.member("activity", activity.id.rawValue)
            if let apps {
                writer.array("apps", of: apps.sorted()) { $0.string($1) }
            }
            if followsType { writer.member("follows_type", true) }
        }
    }
}

extension OwedReload {
    /// - Parameter apps: nil: all.
    init(_ activity: Activity, apps: Set<String>? = nil) {
        self.init(number: activity.number.rawValue, activity: activity.key, apps: apps)
    }

    /// All owed reloads in the records. Adds a text to `damage` for each damaged record.
    static func all(in records: [Record], _ damage: inout [String]) -> [OwedReload] {
        records.filter { $0.space == .owedReload }.compactMap { record in
            if let owed = OwedReload(record: record) { return owed }
            damage.append("the reload that activity number \(record.number) owes cannot be read")
            return nil
        }
    }

    /// Returns nil if the record cannot be read.
    init?(record: Record) {
        // The nil result reports the damage, so the error is dropped.
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
