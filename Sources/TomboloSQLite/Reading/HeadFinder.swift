import TomboloCore
import TomboloEventLog

/// The head of an activity, wherever it stands.
struct HeadFinder {
    struct Found {
        var version: Int64
        var seq: Int64
        var value: [UInt8]
    }

    private let tables: [String]

    init(_ days: [Int64]) { tables = ["head"] + days.map { "\(RetiredDays.prefix)\($0)" } }

    func find(
        _ activity: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) -> Found? {
        for table in tables {
            let row = try connection.prepare(
                "SELECT \(HeadRow.columns) FROM \(table) WHERE activity = ?1")
            row.bind(activity, at: 1)
            if try row.step(), let mark = HeadRow.mark(row) {
                return Found(
                    version: mark.version, seq: mark.seq, value: Array(row.bytes(5)))
            }
        }
        return nil
    }
}

/// What people know an activity by, for its number.
struct ActivityTitles {
    private let heads: HeadFinder

    init(_ heads: HeadFinder) { self.heads = heads }

    /// `activity cat of main (number 7)`; without the id where no head tells it.
    func title(
        _ activity: Int64, _ connection: borrowing Connection
    ) throws(SQLiteError) -> String {
        Self.title(activity, try heads.find(activity, connection)?.value ?? [])
    }

    /// The same by its head's bytes, be they right or not.
    static func title(_ activity: Int64, _ head: [UInt8]) -> String {
        let damaged = DamagedActivity(
            number: ActivityNumber(activity), version: 0, seq: 0, head: head, tenant: nil,
            reason: "")
        guard let key = damaged.key else { return "activity \(activity)" }
        return "activity \(key.id) of \(key.tenant.name) (number \(activity))"
    }
}
