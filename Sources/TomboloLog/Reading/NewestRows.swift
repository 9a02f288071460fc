/// The newest neighbours of the log, or of its facts, as they were stored: see `LogWindow`.
struct NewestRows {
    /// Rows that were committed together.
    struct Piece {
        fileprivate var first: Int64 = 0
        fileprivate var bytes: [UInt8] = []
        /// Where in `bytes` each row begins.
        fileprivate var starts: [Int] = []

        @inline(__always)
        mutating func add(_ seq: Int64, _ row: UnsafeRawBufferPointer) {
            if starts.isEmpty { first = seq }
            starts.append(bytes.count)
            bytes.append(contentsOf: row)
        }
    }

    /// Where a row is.
    struct Place {
        let seq: Int64
        fileprivate let piece: Int
    }

    /// From `start` on; what is before it has left.
    private var pieces: [Piece] = []
    private var start = 0
    private var bytes = 0
    private var count = 0
    /// The oldest that is here, or the next one where none is.
    private(set) var first: Int64 = 1

    mutating func add(_ piece: Piece) {
        guard !piece.starts.isEmpty else { return }
        if first + Int64(count) != piece.first { forget(through: piece.first - 1) }
        pieces.append(piece)
        bytes += piece.bytes.count
        count += piece.starts.count
        while count > LogWindow.rowsMax || bytes > LogWindow.bytesMax { evict() }
    }

    /// The oldest piece leaves.
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

    /// Rows up to that one leave, and those that came with it.
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

    /// Hands over where rows are, newest first, until `take` answers false. Answers whether it did.
    func isStopped(by take: (Place) -> Bool) -> Bool {
        for piece in pieces.indices[start...].reversed() {
            for index in pieces[piece].starts.indices.reversed() {
                let place = Place(seq: pieces[piece].first + Int64(index), piece: piece)
                guard take(place) else { return true }
            }
        }
        return false
    }

    /// Where the tenant's rows after its own place `tenantSeq` are, rising; nil where there may be
    /// some before those that are here.
    ///
    /// - Parameters:
    ///   - place: no row of the tenant lies between its own place and this one of the log.
    ///   - cut: the last row that the log has no more.
    ///   - own: the place of a row among its tenant's, where that is the tenant.
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
