import TomboloCore
import TomboloEventLog

/// A row of the table `head`.
enum HeadRow {
    private struct Numbers: BitwiseCopyable {
        var activity: Int64
        var tenant: Int64
        var version: Int64
        var seq: Int64
    }

    /// `tenant_seq` is NULL where it is `seq`.
    static let columns = "activity, tenant, version, seq, crc, value, tenant_seq"
    static let replacement = insertion(into: "head")

    static func insertion(into table: String) -> String {
        "INSERT OR REPLACE INTO \(table)(\(columns)) VALUES(?1,?2,?3,?4,?5,?6,?7)"
    }

    /// The same for a row that is there: about half the work.
    static let change = change(in: "head")

    static func change(in table: String) -> String {
        """
        UPDATE \(table) SET tenant = ?2, version = ?3, seq = ?4, crc = ?5, value = ?6,
            tenant_seq = ?7
        WHERE activity = ?1
        """
    }

    /// Runs `replacement` or `change`. The answer is SQLite's code.
    static func write(
        _ head: ActivityHead, _ mark: ActivityMarks.Mark, with statement: borrowing Statement
    ) -> Int32 {
        let activity = head.activity.rawValue
        statement.bind(activity, at: 1)
        statement.bind(mark.tenant, at: 2)
        statement.bind(mark.version, at: 3)
        statement.bind(mark.seq, at: 4)
        return head.value.withUnsafeBytes { value in
            let numbers = Numbers(
                activity: activity, tenant: mark.tenant, version: mark.version, seq: mark.seq)
            statement.bind(checksum(numbers, value, tenantSeq: mark.tenantSeq), at: 5)
            statement.bindBlob(value, at: 6)
            statement.bind(mark.tenantSeq == mark.seq ? nil : mark.tenantSeq, at: 7)
            return statement.run()
        }
    }

    /// The present row of a statement that selects `columns`; nil where it is damaged.
    static func mark(_ statement: borrowing Statement) -> ActivityMarks.Mark? {
        let numbers = Numbers(
            activity: statement.integer(0), tenant: statement.integer(1),
            version: statement.integer(2), seq: statement.integer(3))
        let tenantSeq = statement.isNull(6) ? numbers.seq : statement.integer(6)
        let sum = checksum(numbers, statement.bytes(5), tenantSeq: tenantSeq)
        guard sum == statement.integer(4), (0...LogSchema.numberMax).contains(numbers.version),
            (0...LogSchema.numberMax).contains(numbers.seq), (0...numbers.seq).contains(tenantSeq)
        else { return nil }
        return ActivityMarks.Mark(
            version: numbers.version, seq: numbers.seq, tenantSeq: tenantSeq,
            tenant: numbers.tenant, hasHead: true, anchor: ActivityMarks.Mark.unknownAnchor)
    }

    private static func checksum(
        _ numbers: Numbers, _ value: UnsafeRawBufferPointer, tenantSeq: Int64
    ) -> Int64 {
        var sum = RowChecksum(.head)
        sum.add(numbers)
        sum.add(value)
        // As before there were tenants' own places.
        if tenantSeq != numbers.seq { sum.add(tenantSeq) }
        return sum.stored
    }
}
