import TomboloCore
import TomboloEventLog

/// The head of an activity, wherever it stands.
struct HeadFinder {
    private let tables: [LogTable]

    init(_ days: [Int64]) { tables = [.head] + days.map(LogTable.retired) }

    func find(
        _ activity: Int64, _ engine: any LogReading
    ) throws(EventLogError) -> HeadRow.Found? {
        for table in tables {
            if let head = try engine.row(table, activity, HeadRow.head) { return head }
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
        _ activity: Int64, _ engine: any LogReading
    ) throws(EventLogError) -> String {
        Self.title(activity, try heads.find(activity, engine)?.value ?? [])
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
