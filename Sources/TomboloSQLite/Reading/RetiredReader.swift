import TomboloCore
import TomboloEventLog

/// Finds retired activities, by name or by number; keeps a statement for each day that it met.
///
/// A day costs about two microseconds a question.
struct RetiredReader {
    private final class Day {
        let byName: Statement
        let byNumber: Statement

        init(byName: consuming Statement, byNumber: consuming Statement) {
            self.byName = byName
            self.byNumber = byNumber
        }
    }

    private var open: [Int64: Day] = [:]

    /// The newest activity of that name.
    mutating func find(
        _ key: ActivityKey, hash: UInt64, _ connection: borrowing Connection
    ) throws(SQLiteError) -> RecoveredHead? {
        for day in try days(connection) {
            let activities = try day.byName.find(
                Int64(bitPattern: hash), RetiredNameRow.activities)
            for activity in (activities ?? []).reversed() {
                guard let head = try day.byNumber.find(activity, HeadRow.head),
                    StoredHead(head.value, version: head.mark.version)?.key == key
                else { continue }
                return head.recovered(activity)
            }
        }
        return nil
    }

    /// The activity of that number, if it is `tenant`'s.
    mutating func find(
        _ activity: ActivityNumber, tenant: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) -> RecoveredHead? {
        for day in try days(connection) {
            guard let found = try day.byNumber.find(activity.rawValue, HeadRow.head) else {
                continue
            }
            return found.mark.tenant == tenant ? found.recovered(activity.rawValue) : nil
        }
        return nil
    }

    /// Newest first.
    private mutating func days(_ connection: borrowing Connection) throws(SQLiteError) -> [Day] {
        let days = try RetiredDays.days(connection)
        if open.count > days.count { open = open.filter { days.contains($0.key) } }
        var found: [Day] = []
        for day in days {
            if open[day] == nil {
                open[day] = Day(
                    byName: try connection.prepare(LogTable.retiredName(day).one),
                    byNumber: try connection.prepare(LogTable.retired(day).one))
            }
            if let day = open[day] { found.append(day) }
        }
        return found
    }
}
