/// The newest consecutive rows of events, or of facts, as stored: see `LogWindow`.
struct NewestRows {
    /// Rows that were committed together.
    struct Piece {
        fileprivate var first: Int64 = 0
        fileprivate var bytes: [UInt8] = []
        /// Offset in `bytes` at which each row begins.
        fileprivate var starts: [Int] = []

        @inline(__always)
        mutating func add(_ seq: Int64, _ row: UnsafeRawBufferPointer) {
            if starts.isEmpty { first = seq }
            starts.append(bytes.count)
            bytes.append(contentsOf: row)
        }
    }

    /// Position of a row.
    struct Place {
        let seq: Int64
        fileprivate let piece: Int
    }

    /// Rows by piece. The pieces before index `start` were removed.
    private var pieces: [Piece] = []
    private var start = 0
    private var bytes = 0
    private var count = 0
    /// Sequence of the oldest row, or of the next one if there is none.
    private(set) var first: Int64 = 1

    mutating func add(_ piece: Piece) {
        guard !piece.starts.isEmpty else { return }
        if first + Int64(count) != piece.first { forget(through: piece.first - 1) }
        pieces.append(piece)
        bytes += piece.bytes.count
        count += piece.starts.count
        while count > LogWindow.rowsMax || bytes > LogWindow.bytesMax { evict() }
    }

    /// Removes the oldest piece.
    private mutating func evict() {
        let piece = pieces[start]
        bytes -= piece.bytes.count
        count -= piece.starts.count
        first = piece.first + Int64(piece.starts.count)
        pieces[start] = Piece()
        start += 1
        guard start > 1_000 || start == pieces.count else { return }
        pieces.removeSubrange(..<start)
        start = 0
    }

    /// Removes rows up to `seq`, and the rest of the last affected piece.
    mutating func forget(through seq: Int64) {
        while count > 0, first <= seq { evict() }
        if count == 0 { first = max(first, seq + 1) }
    }

    func row<Answer>(_ place: Place, _ take: (RawSpan) -> Answer) -> Answer {
        let piece = pieces[place.piece]
        let index = Int(place.seq - piece.first)
        let end = index + 1 < piece.starts.count ? piece.starts[index + 1] : piece.bytes.count
        return piece.bytes.withUnsafeBytes {
            take(UnsafeRawBufferPointer(rebasing: $0[piece.starts[index]..<end]).bytes)
        }
    }

    /// Calls `take` for each row, newest first, until it returns false. Returns true if `take`
    /// returned false.
    func isStopped(by take: (Place) -> Bool) -> Bool {
        for piece in pieces.indices[start...].reversed() {
            for index in pieces[piece].starts.indices.reversed() {
                let place = Place(seq: pieces[piece].first + Int64(index), piece: piece)
                guard take(place) else { return true }
            }
        }
        return false
    }

    /// Positions of the tenant's rows after its place `tenantSeq`, rising; nil if rows before the
    /// window may belong to the result.
    ///
    /// - Parameters:
    ///   - place: sequence in the log; no tenant's row after place `tenantSeq` is at or before it.
    ///   - cut: the last row that was cut.
    ///   - own: returns a row's place among the tenant's rows; nil if it is another tenant's.
    func places(
        after tenantSeq: Int64, _ place: Int64?, cut: Int64, own: (Int64, RawSpan) -> Int64?
    ) -> [Place]? {
        let isAll = first <= max(place ?? 0, cut) + 1
        if place != nil, !isAll { return nil }
        var found: [Place] = []
        let isStopped = isStopped { at in
            if let place, at.seq <= place { return false }
            guard let tenantPlace = row(at, { own(at.seq, $0) }) else { return true }
            guard tenantPlace > tenantSeq else { return false }
            found.append(at)
            return tenantPlace > tenantSeq + 1
        }
        return isStopped || isAll ? found.reversed() : nil
    }
}
