/// What one piece of a cut took away.
package struct CutPiece: Hashable, Sendable {
    /// Of all tables.
    package var rows: Int64 = 0
    /// Of their contents.
    package var bytes: Int64 = 0
    /// Whether the next piece finds something too, as far as this one can say.
    package var goesOn = false

    /// Takes a row of that many bytes, or several.
    mutating func take(_ bytes: Int64, rows: Int64 = 1) {
        self.rows += rows
        self.bytes += bytes
    }
}

/// How much one piece of a cut may take: a commit waits for at most one piece.
///
/// Everything that goes is overwritten, so bytes cost as much as rows. A piece takes up to twice
/// what was stored since the piece before it, so that a cut keeps pace under load; it takes at
/// least `rowsMin` or `bytesMin`, and at most `rowsMax` and `bytesMax`: some milliseconds and an
/// fsync on a disk that takes 100 MB/s. Only a single row that is larger goes beyond.
struct CutAllowance {
    static let rowsMin: Int64 = 500
    static let bytesMin: Int64 = 512 << 10
    /// Twice what a commit takes.
    static let rowsMax = Int64(2 * LogWriterThread.groupEventsMax)
    static let bytesMax: Int64 = 2 << 20

    private var storedRows: Int64 = 0
    private var storedBytes: Int64 = 0

    var rows: Int64 { min(max(2 * storedRows, Self.rowsMin), Self.rowsMax) }
    var bytes: Int64 { min(max(2 * storedBytes, Self.bytesMin), Self.bytesMax) }

    /// Whether a piece may take more.
    func hasRoom(in piece: CutPiece) -> Bool { piece.rows < rows && piece.bytes < bytes }

    /// Whether as much came as one piece takes: it is time for one, also where a commit waits.
    var isOwed: Bool { 2 * storedRows >= Self.rowsMin || 2 * storedBytes >= Self.bytesMin }

    mutating func store(rows: Int, bytes: Int) {
        storedRows += Int64(rows)
        storedBytes += Int64(bytes)
    }
}
