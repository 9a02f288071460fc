import TomboloCore
import TomboloEventLog

/// Finds retired activities, by name or by number.
enum RetiredReader {
    /// For each key, the newest retired activity with its id. `hash` is a hash of tenant and id.
    static func find(
        _ keys: [(key: ActivityKey, hash: UInt64)], _ engine: any LogReading
    ) throws(EventLogError) -> [RecoveredHead] {
        var named: [Int64: [(day: Int64, activity: Int64)]] = [:]
        let hashes = keys.map { Int64(bitPattern: $0.hash) }
        try engine.everyShard(.retiredName, hashes) { day, hash, row in
            let activities = RetiredNameRow.activities(hash, row) ?? []
            named[hash, default: []] += activities.reversed().map { (day, $0) }
            return true
        }
        guard !named.isEmpty else { return [] }
        var heads: [Int64: [Int64: HeadRow.Found]] = [:]
        let activities = Set(named.values.joined().map(\.activity))
        try engine.everyShard(.retired, activities.sorted()) { day, activity, row in
            heads[activity, default: [:]][day] = HeadRow.head(activity, row)
            return true
        }
        return keys.compactMap { key, hash in
            for (day, activity) in named[Int64(bitPattern: hash)] ?? [] {
                if let head = heads[activity]?[day],
                    DecodedHead(head.value, version: head.position.version)?.key == key
                {
                    return head.recovered(activity)
                }
            }
            return nil
        }
    }

    /// The retired activity of this number; nil if it is unknown or not the tenant's.
    static func find(
        _ activity: ActivityNumber, tenant: Int64, _ engine: any LogReading
    ) throws(EventLogError) -> RecoveredHead? {
        var found: HeadRow.Found?
        try engine.everyShard(.retired, [activity.rawValue]) {
            found = HeadRow.head($1, $2)
            return found == nil
        }
        return found?.position.tenant == tenant ? found?.recovered(activity.rawValue) : nil
    }
}
