import TomboloCore
import TomboloEventLog

/// Finds retired activities, by name or by number.
enum RetiredReader {
    /// The newest activity of that name.
    static func find(
        _ key: ActivityKey, hash: UInt64, _ engine: any LogReading
    ) throws(EventLogError) -> RecoveredHead? {
        var found: [(day: Int64, activity: Int64)] = []
        let name = Int64(bitPattern: hash)
        try engine.everyShard(.retiredName, name) { day, row in
            let activities = RetiredNameRow.activities(name, row) ?? []
            found += activities.reversed().map { (day, $0) }
            return true
        }
        for (day, activity) in found {
            guard let head = try engine.row(.retired(day), activity, HeadRow.head),
                StoredHead(head.value, version: head.mark.version)?.key == key
            else { continue }
            return head.recovered(activity)
        }
        return nil
    }

    /// The activity of that number, if it is `tenant`'s.
    static func find(
        _ activity: ActivityNumber, tenant: Int64, _ engine: any LogReading
    ) throws(EventLogError) -> RecoveredHead? {
        var found: HeadRow.Found?
        try engine.everyShard(.retired, activity.rawValue) {
            found = HeadRow.head(activity.rawValue, $1)
            return found == nil
        }
        return found?.mark.tenant == tenant ? found?.recovered(activity.rawValue) : nil
    }
}
