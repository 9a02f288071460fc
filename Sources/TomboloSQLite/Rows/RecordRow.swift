import TomboloCore

/// A row of the table `record`: its key is one integer, the space above the number.
enum RecordRow {
    /// Numbers have 48 bits.
    static let numberMax: Int64 = 1 << 48 - 1

    static let columns = "key, crc, value"
    static let replacement = "INSERT OR REPLACE INTO record(\(columns)) VALUES(?1,?2,?3)"
    static let deletion = "DELETE FROM record WHERE key = ?1"

    static func key(_ record: Record) -> Int64 {
        precondition(
            (0...numberMax).contains(record.number), "a record's number is 0 to 2^48 - 1")
        return Int64(record.space.rawValue) << 48 | record.number
    }

    /// Runs `replacement`. The answer is SQLite's code.
    static func replace(
        _ record: Record, value: [UInt8], with statement: borrowing Statement
    ) -> Int32 {
        let key = key(record)
        statement.bind(key, at: 1)
        return value.withUnsafeBytes { value in
            statement.bind(checksum(key, value), at: 2)
            statement.bindBlob(value, at: 3)
            return statement.run()
        }
    }

    /// The present row of a statement that selects `columns`; nil where it is damaged.
    static func record(_ statement: borrowing Statement) -> Record? {
        let key = statement.integer(0)
        let value = statement.bytes(2)
        guard checksum(key, value) == statement.integer(1),
            let space = UInt8(exactly: key >> 48).flatMap(RecordSpace.init(rawValue:))
        else { return nil }
        return Record(space: space, number: key & numberMax, value: Array(value))
    }

    private static func checksum(_ key: Int64, _ value: UnsafeRawBufferPointer) -> Int64 {
        var sum = RowChecksum(.record)
        sum.add(key)
        sum.add(value)
        return sum.stored
    }
}
