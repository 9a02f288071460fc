import TomboloCore
import TomboloEventLog

/// Finds retired activities, by name or by number: a question for each day.
enum RetiredReader {
    /// The newest activity of that name.
    static func find(
        _ key: ActivityKey, hash: UInt64, _ engine: any LogReading
    ) throws(EventLogError) -> RecoveredHead? {
        for day in try RetiredDays.days(engine) {
            let activities = try engine.row(
                .retiredName(day), Int64(bitPattern: hash), RetiredNameRow.activities)
            for activity in (activities ?? []).reversed() {
                guard let head = try engine.row(.retired(day), activity, HeadRow.head),
                    StoredHead(head.value, version: head.mark.version)?.key == key
                else { continue }
                return head.recovered(activity)
            }
        }
        return nil
    }

    /// The activity of that number, if it is `tenant`'s.
    static func find(
        _ activity: ActivityNumber, tenant: Int64, _ engine: any LogReading
    ) throws(EventLogError) -> RecoveredHead? {
        for day in try RetiredDays.days(engine) {
            let found = try engine.row(.retired(day), activity.rawValue, HeadRow.head)
            guard let found else { continue }
            return found.mark.tenant == tenant ? found.recovered(activity.rawValue) : nil
        }
        return nil
    }
}
