import TomboloCore

/// A row of the table `record`. Its key: space (upper 16 bits) and number (lower 48 bits).
enum RecordRow {
    /// Largest number of a record: 48 bits.
    static let numberMax: Int64 = 1 << 48 - 1

    static func key(_ record: Record) -> Int64 {
        precondition((0...numberMax).contains(record.number), "a record's number is 0 to 2^48 - 1")
        return Int64(record.space.rawValue) << 48 | record.number
    }

    /// Name of a record, for error texts.
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
