import TomboloEventLog

/// One piece of an erasure: the log that it changes, and its limits.
final class ErasingPiece {
    /// Maximum number of rows that one piece examines, which takes some milliseconds.
    private static let rowsMax = 10_000
    /// Maximum bytes that one piece examines, as for a cut; only a single larger row exceeds it.
    private static let bytesMax = Int(CutAllowance.bytesMax)

    let writer: LogWriter
    let engine: any LogWriting
    var buffer = RowBuffer()
    /// Key of the last examined row.
    private(set) var last: Int64?
    private var (rows, bytes) = (0, 0)

    /// True if another row may be examined.
    var hasRoom: Bool { rows < Self.rowsMax && bytes < Self.bytesMax }

    init(_ writer: LogWriter) { (self.writer, engine) = (writer, writer.engine) }

    /// Counts a row. Returns true if another one may be examined.
    func goesOn(after key: Int64, _ byteCount: Int) -> Bool {
        (last, rows, bytes) = (key, rows + 1, bytes + byteCount)
        return hasRoom
    }

    /// Numbers of an event's row; nil if it is missing or damaged.
    func numbers(_ seq: Int64) throws(EventLogError) -> EventRow.Numbers? {
        try engine.row(.event, seq) { seq, row in
            _ = goesOn(after: seq, row.byteCount)
            return EventRow.numbers(seq, row)
        }
    }

    /// Replaces an event by a tombstone (a row without content).
    func bury(_ seq: Int64, _ numbers: EventRow.Numbers) throws(EventLogError) {
        let row = try engine.row(.event, seq) { $1.array(from: 0) }
        guard let row else { return }
        let left = row.withUnsafeBytes {
            EventRow.tombstone(seq, numbers, $0.bytes, writer.standing.hash, into: &buffer)
        }
        try engine.put(.event, seq, left, over: .changed)
    }
}
