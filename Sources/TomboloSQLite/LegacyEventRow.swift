/// A row of the table `log` as schemas 1 and 2 had it, a column for each number: read once more
/// when such a database is brought up.
enum LegacyEventRow {
    /// All that a row holds besides the key's and the body's bytes. 64 bits each, so that there is
    /// no padding and the checksum covers every byte.
    struct Numbers: BitwiseCopyable {
        var seq: Int64
        var tenant: Int64
        var activity: Int64
        var version: Int64
        var previous: Int64
        var kind: Int64
        var recordedAt: Int64
        /// 0 without a key.
        var digest: Int64
        /// -1 without a key.
        var keyBytes: Int64
    }

    static let columns = """
        seq, tenant, activity, version, previous, kind, recorded_at, crc, idempotency_digest, \
        idempotency_key, body
        """

    /// The numbers of the present row of a statement that selects `columns`; nil where the row is
    /// damaged.
    static func numbers(_ statement: borrowing Statement) -> Numbers? {
        let key = statement.bytes(9)
        let numbers = Numbers(
            seq: statement.integer(0), tenant: statement.integer(1),
            activity: statement.integer(2), version: statement.integer(3),
            previous: statement.integer(4), kind: statement.integer(5),
            recordedAt: statement.integer(6), digest: statement.integer(8),
            keyBytes: statement.isNull(9) ? -1 : Int64(key.count))
        let sum = checksum(numbers, key: key, body: statement.bytes(10))
        return sum == statement.integer(7) ? numbers : nil
    }

    private static func checksum(
        _ numbers: Numbers, key: UnsafeRawBufferPointer, body: UnsafeRawBufferPointer
    ) -> Int64 {
        var sum = RowChecksum(.log)
        sum.add(numbers)
        sum.add(key)
        sum.add(body)
        return sum.stored
    }
}
