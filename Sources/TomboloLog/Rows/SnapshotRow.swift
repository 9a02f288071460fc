/// A row of the table `snapshot`: an activity's head at an event. One is kept for every `interval`
/// events of the activity, so that few events suffice to rebuild a past state.
///
/// Snapshots also link back to older ones, so that following a long activity back needs few reads:
/// to the previous snapshot, and to one about `leap` snapshots earlier.
enum SnapshotRow {
    struct Numbers: BitwiseCopyable {
        var tenant: Int64
        var activity: Int64
        var version: Int64
        /// Sequence of the activity's previous snapshot; 0 if this is the first.
        var previous: Int64
        /// Sequence of the last snapshot in the previous group of `leap`; 0 if there is none.
        var far: Int64
        var recordedAt: Int64

        static let previousAt = RowChecksum.bytes + 24
        static let farAt = RowChecksum.bytes + 32
        static let recordedAtAt = RowChecksum.bytes + 40
    }

    /// Number of an activity's events from one snapshot to the next. A state is rebuilt from at
    /// most as many events, which takes less than 1 ms.
    static let interval: Int64 = 256
    /// Number of snapshots in a group. Ten million events have 39,063 snapshots in 611 groups.
    static let leap: Int64 = 64

    /// True if the head after this version is kept as a snapshot.
    static func isDue(at version: Int64) -> Bool { version % interval == 0 }

    /// Number of the group to which the snapshot at a version belongs.
    static func group(_ version: Int64) -> Int64 { version / (interval * leap) }

    /// The numbers of a row, before the head's bytes; nil if it is damaged.
    static func numbers(_ seq: Int64, _ row: RawSpan) -> Numbers? {
        RowChecksum.numbers(.snapshot, seq, row)
    }

    /// The head's bytes in a row whose numbers are valid; empty if the head was erased.
    static func value(_ seq: Int64, _ row: RawSpan) -> [UInt8] {
        row.array(from: RowChecksum.bytes + MemoryLayout<Numbers>.size)
    }
}
