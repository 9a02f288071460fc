import TomboloCore

/// A row of the table `snapshot`: an activity's head as it was at an event, kept at every
/// `interval`-th of its events, so that a state deep in the past is a short way from one.
///
/// Snapshots are also stones to step on: the way back along an activity goes from snapshot to
/// snapshot, and where it is long, from one that is `leap` snapshots away to the next such.
enum SnapshotRow {
    struct Numbers: BitwiseCopyable {
        var tenant: Int64
        var activity: Int64
        var version: Int64
        /// The activity's snapshot before; 0 where this is its first.
        var previous: Int64
        /// The last snapshot of the group of `leap` before; 0 where there is none.
        var far: Int64
        var recordedAt: Int64
    }

    /// A head is stored once in so many events of an activity, and so many are followed at most to
    /// find a state: below 1 ms.
    static let interval: Int64 = 256
    /// Ten million events of one activity are 39,063 snapshots and 611 leaps.
    static let leap: Int64 = 64

    static let columns = "seq, crc, row"
    static let insertion = "INSERT OR REPLACE INTO snapshot(\(columns)) VALUES(?1,?2,?3)"

    /// Whether the activity is given one with the head that comes after this version.
    static func isDue(at version: Int64) -> Bool { version % interval == 0 }

    /// Of which group of `leap` a snapshot is.
    static func group(_ version: Int64) -> Int64 { version / (interval * leap) }

    /// Runs `insertion`. The answer is SQLite's code.
    static func insert(
        _ seq: Int64, _ numbers: Numbers, _ value: [UInt8], into buffer: inout RowBuffer,
        with statement: borrowing Statement
    ) -> Int32 {
        let size = MemoryLayout<Numbers>.size
        let row = buffer.bytes(size + value.count)
        row.storeBytes(of: numbers, as: Numbers.self)
        UnsafeMutableRawBufferPointer(rebasing: row[size...]).copyBytes(from: value)
        let bytes = UnsafeRawBufferPointer(row)
        statement.bind(seq, at: 1)
        statement.bind(checksum(seq, bytes), at: 2)
        statement.bindBlob(bytes, at: 3)
        return statement.run()
    }

    /// The present row of a statement that selects `columns`; nil where it is damaged.
    static func numbers(_ statement: borrowing Statement) -> Numbers? {
        let bytes = statement.bytes(2)
        guard bytes.count >= MemoryLayout<Numbers>.size,
            checksum(statement.integer(0), bytes) == statement.integer(1)
        else { return nil }
        return bytes.loadUnaligned(as: Numbers.self)
    }

    /// The head in the present row, whose numbers are right; empty where it was erased.
    static func value(_ statement: borrowing Statement) -> [UInt8] {
        Array(statement.bytes(2).dropFirst(MemoryLayout<Numbers>.size))
    }

    private static func checksum(_ seq: Int64, _ bytes: UnsafeRawBufferPointer) -> Int64 {
        var sum = RowChecksum(.snapshot)
        sum.add(seq)
        sum.add(bytes)
        return sum.stored
    }
}
