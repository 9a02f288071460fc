/// What one piece of a cut deleted.
package struct CutPiece: Hashable, Sendable {
    /// Deleted rows of all tables.
    package var rows: Int64 = 0
    /// Bytes of the deleted rows.
    package var bytes: Int64 = 0
    /// True if the next piece will find rows too, as far as this piece knows.
    package var goesOn = false

    /// Adds a row of this many bytes, or several rows.
    mutating func take(_ bytes: Int64, rows: Int64 = 1) {
        self.rows += rows
        self.bytes += bytes
    }
}

/// How much one piece of a cut may delete. A commit waits for at most one piece.
///
/// Deleted data is overwritten, so bytes cost as much as rows. A piece deletes up to twice as much
/// as was stored since the last piece, so that a cut keeps pace under load. It may always delete
/// `rowsMin` or `bytesMin`, and never more than `rowsMax` and `bytesMax`, except for a single
/// larger row. That takes some milliseconds and an fsync at 100 MB/s.
struct CutAllowance {
    static let rowsMin: Int64 = 500
    static let bytesMin: Int64 = 512 << 10
    /// Twice the events of a commit.
    static let rowsMax = Int64(2 * LogWriterThread.groupEventsMax)
    static let bytesMax: Int64 = 2 << 20

    private var storedRows: Int64 = 0
    private var storedBytes: Int64 = 0

    var rows: Int64 { min(max(2 * storedRows, Self.rowsMin), Self.rowsMax) }
    var bytes: Int64 { min(max(2 * storedBytes, Self.bytesMin), Self.bytesMax) }

    /// True if a piece may delete more.
    func hasRoom(in piece: CutPiece) -> Bool { piece.rows < rows && piece.bytes < bytes }

    /// True if so much was stored that a piece is due even while a commit waits.
    var isOwed: Bool { 2 * storedRows >= Self.rowsMin || 2 * storedBytes >= Self.bytesMin }

    mutating func store(rows: Int, bytes: Int) {
        storedRows += Int64(rows)
        storedBytes += Int64(bytes)
    }
}
