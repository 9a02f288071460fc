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

        static let previousAt = RowChecksum.bytes + 24
        static let farAt = RowChecksum.bytes + 32
        static let recordedAtAt = RowChecksum.bytes + 40
    }

    /// A head is stored once in so many events of an activity, and so many are followed at most to
    /// find a state: below 1 ms.
    static let interval: Int64 = 256
    /// Ten million events of one activity are 39,063 snapshots and 611 leaps.
    static let leap: Int64 = 64

    /// Whether the activity is given one with the head that comes after this version.
    static func isDue(at version: Int64) -> Bool { version % interval == 0 }

    /// Of which group of `leap` a snapshot is.
    static func group(_ version: Int64) -> Int64 { version / (interval * leap) }

    /// Those of a row, which the head's bytes follow; nil where it is damaged.
    static func numbers(_ seq: Int64, _ row: RawSpan) -> Numbers? {
        RowChecksum.numbers(.snapshot, seq, row)
    }

    /// The head in a row whose numbers are right; empty where it was erased.
    static func value(_ seq: Int64, _ row: RawSpan) -> [UInt8] {
        row.array(from: RowChecksum.bytes + MemoryLayout<Numbers>.size)
    }
}
