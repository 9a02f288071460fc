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
        let hash = Int64(bitPattern: hash)
        for day in try days(connection) {
            day.byName.bind(hash, at: 1)
            defer { day.byName.reset() }
            while try day.byName.step() {
                let activity = day.byName.integer(0)
                guard RetiredDays.checksum(hash, activity) == day.byName.integer(1) else {
                    continue
                }
                guard let head = try Self.head(activity, day)?.head,
                    StoredHead(head.value, version: head.version)?.key == key
                else { continue }
                return head
            }
        }
        return nil
    }

    /// The activity of that number, if it is `tenant`'s.
    mutating func find(
        _ activity: ActivityNumber, tenant: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) -> RecoveredHead? {
        for day in try days(connection) {
            guard let found = try Self.head(activity.rawValue, day) else { continue }
            return found.tenant == tenant ? found.head : nil
        }
        return nil
    }

    private static func head(
        _ activity: Int64, _ day: Day
    ) throws(SQLiteError) -> (head: RecoveredHead, tenant: Int64)? {
        day.byNumber.bind(activity, at: 1)
        defer { day.byNumber.reset() }
        guard try day.byNumber.step(), let mark = HeadRow.mark(day.byNumber) else { return nil }
        let head = RecoveredHead(
            activity: ActivityNumber(activity), version: mark.version, seq: mark.seq,
            tenantSeq: mark.tenantSeq, value: Array(day.byNumber.bytes(5)))
        return (head, mark.tenant)
    }

    /// Newest first.
    private mutating func days(_ connection: borrowing Connection) throws(SQLiteError) -> [Day] {
        let days = try RetiredDays.days(connection)
        if open.count > days.count { open = open.filter { days.contains($0.key) } }
        var found: [Day] = []
        for day in days {
            if open[day] == nil {
                open[day] = Day(
                    byName: try connection.prepare(
                        """
                        SELECT activity, crc FROM \(RetiredDays.namePrefix)\(day)
                        WHERE hash = ?1 ORDER BY activity DESC
                        """),
                    byNumber: try connection.prepare(
                        """
                        SELECT \(HeadRow.columns) FROM \(RetiredDays.prefix)\(day)
                        WHERE activity = ?1
                        """))
            }
            if let day = open[day] { found.append(day) }
        }
        return found
    }
}
