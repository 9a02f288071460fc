import TomboloCore

/// A row of the table `fact`.
enum FactRow {
    private struct Numbers: BitwiseCopyable {
        var seq: Int64
        var tenant: Int64
        /// 0 where `hasActivity` is.
        var activity: Int64
        var hasActivity: Int64
        var recordedAt: Int64
        var kindBytes: Int64
    }

    static let columns = "seq, tenant, activity, recorded_at, crc, kind, body"
    static let insertion = "INSERT INTO fact(\(columns)) VALUES(?1,?2,?3,?4,?5,?6,?7)"
    static let replacement =
        "INSERT OR REPLACE INTO fact(\(columns)) VALUES(?1,?2,?3,?4,?5,?6,?7)"

    /// Runs `insertion`. The answer is SQLite's code.
    static func insert(
        _ fact: NewFact, seq: Int64, tenant: Int64, with statement: borrowing Statement
    ) -> Int32 {
        statement.bind(seq, at: 1)
        statement.bind(tenant, at: 2)
        statement.bind(fact.activity?.rawValue, at: 3)
        statement.bind(fact.recordedAt.nanoseconds, at: 4)
        return withBytes(of: fact.kind) { kind in
            fact.body.withUnsafeBytes { body in
                let numbers = Numbers(
                    seq: seq, tenant: tenant, activity: fact.activity?.rawValue ?? 0,
                    hasActivity: fact.activity == nil ? 0 : 1,
                    recordedAt: fact.recordedAt.nanoseconds, kindBytes: Int64(kind.count))
                statement.bind(checksum(numbers, kind: kind, body: body), at: 5)
                statement.bindText(kind, at: 6)
                statement.bindBlob(body, at: 7)
                return statement.run()
            }
        }
    }

    /// The present row of a statement that selects `columns`; nil where it is damaged.
    static func fact(_ statement: borrowing Statement, tenants: Tenants) -> RecordedFact? {
        let kind = statement.bytes(5)
        let numbers = Numbers(
            seq: statement.integer(0), tenant: statement.integer(1),
            activity: statement.integer(2), hasActivity: statement.isNull(2) ? 0 : 1,
            recordedAt: statement.integer(3), kindBytes: Int64(kind.count))
        let body = statement.bytes(6)
        guard checksum(numbers, kind: kind, body: body) == statement.integer(4),
            let tenant = tenants.name(numbers.tenant)
        else { return nil }
        let activity = numbers.hasActivity == 0 ? nil : ActivityNumber(numbers.activity)
        let fact = NewFact(
            tenant: tenant, activity: activity, kind: String(decoding: kind, as: UTF8.self),
            recordedAt: Instant(nanoseconds: numbers.recordedAt), body: Array(body))
        return RecordedFact(seq: numbers.seq, fact: fact)
    }

    private static func checksum(
        _ numbers: Numbers, kind: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer
    ) -> Int64 {
        var sum = RowChecksum(.fact)
        sum.add(numbers)
        sum.add(kind)
        sum.add(body)
        return sum.stored
    }
}
