/// How much one piece of a cut deleted.
package struct CutPiece: Hashable, Sendable {
    /// Deleted rows of all tables.
    package var rows: Int64 = 0
    /// Bytes of the deleted rows.
    package var bytes: Int64 = 0
    /// True if the next piece will probably find rows to delete, too.
    package var goesOn = false

    /// Adds a deleted row of this many bytes, or `rows` rows that have this many bytes together.
    mutating func count(_ bytes: Int64, rows: Int64 = 1) {
        self.rows += rows
        self.bytes += bytes
    }
}

/// Maximum that one piece of a cut may delete. A commit waits for at most one piece.
///
/// Deleted data is overwritten, so bytes count as well as rows. A piece may delete twice as much as
/// was stored since the last piece, so that a cut keeps pace under load, but at least `rowsMin` or
/// `bytesMin`, and at most `rowsMax` and `bytesMax` (a single larger row may exceed this). The
/// maximum takes some milliseconds and an fsync at 100 MB/s.
struct CutAllowance {
    static let rowsMin: Int64 = 500
    static let bytesMin: Int64 = 512 << 10
    /// Twice the maximum number of events in a commit.
    static let rowsMax = Int64(2 * LogWriterThread.groupEventsMax)
    static let bytesMax: Int64 = 2 << 20

    private var storedRows: Int64 = 0
    private var storedBytes: Int64 = 0

    var rows: Int64 { min(max(2 * storedRows, Self.rowsMin), Self.rowsMax) }
    var bytes: Int64 { min(max(2 * storedBytes, Self.bytesMin), Self.bytesMax) }

    /// True if a piece may delete more.
    func hasRoom(in piece: CutPiece) -> Bool { piece.rows < rows && piece.bytes < bytes }

    /// True if so much was stored that a piece should run even while a commit waits.
    var isOwed: Bool { 2 * storedRows >= Self.rowsMin || 2 * storedBytes >= Self.bytesMin }

    mutating func store(rows: Int, bytes: Int) {
        storedRows += Int64(rows)
        storedBytes += Int64(bytes)
    }
}
