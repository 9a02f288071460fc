import TomboloCore

/// A row of the table `record`. Its key has the space in the upper bits, then the number.
enum RecordRow {
    /// Largest number: 48 bits.
    static let numberMax: Int64 = 1 << 48 - 1

    static func key(_ record: Record) -> Int64 {
        precondition((0...numberMax).contains(record.number), "a record's number is 0 to 2^48 - 1")
        return Int64(record.space.rawValue) << 48 | record.number
    }

    /// Name of a record for people.
    static func title(_ key: Int64) -> String {
        "record \(key & numberMax) of space \(key >> 48)"
    }

    /// Returns nil if the row is damaged.
    static func record(_ key: Int64, _ row: RawSpan) -> Record? {
        guard RowChecksum.isRight(.record, key, row),
            let space = UInt8(exactly: key >> 48).flatMap(RecordSpace.init(rawValue:))
        else { return nil }
        return Record(
            space: space, number: key & numberMax, value: row.array(from: RowChecksum.bytes))
    }
}
