import TomboloEventLog

/// One piece of an erasure: the log that it changes, and what it has looked at.
final class ErasingPiece {
    /// So many rows one piece looks at: some milliseconds.
    private static let rowsMax = 10_000
    /// And so many bytes of them, as a cut takes: only a single row that is larger goes beyond.
    private static let bytesMax = Int(CutAllowance.bytesMax)

    let writer: LogWriter
    let engine: any LogWriting
    var buffer = RowBuffer()
    /// The key of the last row that was looked at.
    private(set) var last: Int64?
    private var (rows, bytes) = (0, 0)

    /// Whether it may look at another row.
    var hasRoom: Bool { rows < Self.rowsMax && bytes < Self.bytesMax }

    init(_ writer: LogWriter) { (self.writer, engine) = (writer, writer.engine) }

    /// Counts a row, and answers whether it may look at another one.
    func goesOn(after key: Int64, _ byteCount: Int) -> Bool {
        (last, rows, bytes) = (key, rows + 1, bytes + byteCount)
        return hasRoom
    }

    /// Of an event; nil where its row is missing or damaged.
    func numbers(_ seq: Int64) throws(EventLogError) -> EventRow.Numbers? {
        try engine.row(.event, seq) { seq, row in
            _ = goesOn(after: seq, row.byteCount)
            return EventRow.numbers(seq, row)
        }
    }

    /// Puts an event's tombstone in its place.
    func bury(_ seq: Int64, _ numbers: EventRow.Numbers) throws(EventLogError) {
        let row = try engine.row(.event, seq) { $1.array(from: 0) }
        guard let row else { return }
        let left = row.withUnsafeBytes {
            EventRow.tombstone(seq, numbers, $0.bytes, writer.standing.hash, into: &buffer)
        }
        try engine.put(.event, seq, left, over: .changed)
    }
}
