/// Queue of an answer's bytes: pieces go in whole, and bytes are taken in any number. Pure.
struct HTTPByteQueue {
    private var pieces: [[UInt8]] = []
    private var first = 0
    /// Bytes of `pieces[first]` that are already taken.
    private var offset = 0
    private(set) var count = 0

    var isEmpty: Bool { count == 0 }

    mutating func append(_ piece: [UInt8]) {
        guard !piece.isEmpty else { return }
        pieces.append(piece)
        count += piece.count
    }

    /// Moves bytes to `target` until it is full or the queue is empty. Returns their number.
    mutating func move(to target: UnsafeMutableRawBufferPointer) -> Int {
        var moved = 0
        while moved < target.count, count > 0 {
            let size = min(pieces[first].count - offset, target.count - moved)
            pieces[first].withUnsafeBytes { bytes in
                target[moved..<(moved + size)].copyBytes(from: bytes[offset..<(offset + size)])
            }
            moved += size
            advance(by: size)
        }
        return moved
    }

    /// Moves bytes to `output` until it holds a full record or the queue is empty.
    mutating func move(to output: OutputBuffer) {
        while !output.isFull, count > 0 {
            let size = min(pieces[first].count - offset, OutputBuffer.recordBytes)
            output.append(pieces[first][offset..<(offset + size)])
            advance(by: size)
        }
    }

    mutating func removeAll() { self = HTTPByteQueue() }

    private mutating func advance(by size: Int) {
        offset += size
        count -= size
        guard offset == pieces[first].count else { return }
        pieces[first] = []
        first += 1
        offset = 0
        guard first == pieces.count || first >= 64 else { return }
        pieces.removeSubrange(..<first)
        first = 0
    }
}
