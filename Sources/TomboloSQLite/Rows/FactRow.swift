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

    /// `tenant_seq` is NULL where it is `seq`.
    static let columns = "seq, tenant, activity, recorded_at, crc, kind, body, tenant_seq"
    static let insertion = "INSERT INTO fact(\(columns)) VALUES(?1,?2,?3,?4,?5,?6,?7,?8)"
    static let replacement =
        "INSERT OR REPLACE INTO fact(\(columns)) VALUES(?1,?2,?3,?4,?5,?6,?7,?8)"

    /// Runs `insertion`. The answer is SQLite's code.
    static func insert(
        _ fact: NewFact, seq: Int64, tenantSeq: Int64, tenant: Int64,
        with statement: borrowing Statement
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
                let sum = checksum(numbers, kind: kind, body: body, tenantSeq: tenantSeq)
                statement.bind(sum, at: 5)
                statement.bindText(kind, at: 6)
                statement.bindBlob(body, at: 7)
                statement.bind(tenantSeq == seq ? nil : tenantSeq, at: 8)
                return statement.run()
            }
        }
    }

    /// Whose the present row is, and its place among those of the tenant; nil where it is damaged.
    static func place(_ statement: borrowing Statement) -> (tenant: Int64, tenantSeq: Int64)? {
        guard let found = numbers(statement) else { return nil }
        return (found.numbers.tenant, found.tenantSeq)
    }

    /// The place that the present row says it has, whether it is right or not.
    static func unprovedPlace(_ statement: borrowing Statement) -> Int64 {
        statement.isNull(7) ? statement.integer(0) : statement.integer(7)
    }

    private static func numbers(
        _ statement: borrowing Statement
    ) -> (numbers: Numbers, tenantSeq: Int64)? {
        let kind = statement.bytes(5)
        let numbers = Numbers(
            seq: statement.integer(0), tenant: statement.integer(1),
            activity: statement.integer(2), hasActivity: statement.isNull(2) ? 0 : 1,
            recordedAt: statement.integer(3), kindBytes: Int64(kind.count))
        let tenantSeq = unprovedPlace(statement)
        let sum = checksum(numbers, kind: kind, body: statement.bytes(6), tenantSeq: tenantSeq)
        guard sum == statement.integer(4), tenantSeq > 0, tenantSeq <= numbers.seq else {
            return nil
        }
        return (numbers, tenantSeq)
    }

    /// The present row of a statement that selects `columns`; nil where it is damaged.
    static func fact(_ statement: borrowing Statement, tenants: Tenants) -> RecordedFact? {
        guard let (numbers, tenantSeq) = numbers(statement),
            let tenant = tenants.name(numbers.tenant)
        else { return nil }
        let activity = numbers.hasActivity == 0 ? nil : ActivityNumber(numbers.activity)
        let fact = NewFact(
            tenant: tenant, activity: activity,
            kind: String(decoding: statement.bytes(5), as: UTF8.self),
            recordedAt: Instant(nanoseconds: numbers.recordedAt), body: Array(statement.bytes(6)))
        return RecordedFact(seq: numbers.seq, tenantSeq: tenantSeq, fact: fact)
    }

    private static func checksum(
        _ numbers: Numbers, kind: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer,
        tenantSeq: Int64
    ) -> Int64 {
        var sum = RowChecksum(.fact)
        sum.add(numbers)
        sum.add(kind)
        sum.add(body)
        // As before there were tenants' own places.
        if tenantSeq != numbers.seq { sum.add(tenantSeq) }
        return sum.stored
    }
}
