/// The part of a request's body that has arrived and that the handler has not taken yet. Pure.
struct HTTPBodyQueue {
    /// Small pieces are joined up to this many bytes.
    private static let pieceBytesMax = 16_384

    private var pieces: [[UInt8]] = []
    private var first = 0
    private(set) var bytesHeld = 0
    /// True once the whole body has arrived. Pieces may still be held.
    private(set) var isComplete = false

    var isEmpty: Bool { first == pieces.count }

    mutating func append(_ piece: [UInt8]) {
        guard !piece.isEmpty else { return }
        bytesHeld += piece.count
        // Join small pieces: if a peer sends single bytes, arrays would need 48 times the memory.
        if !isEmpty, let last = pieces.indices.last,
            pieces[last].count + piece.count <= Self.pieceBytesMax
        {
            pieces[last] += piece
        } else {
            pieces.append(piece)
        }
    }

    mutating func complete() { isComplete = true }

    /// Takes the oldest piece; nil if there is none. Does not move the others in memory.
    mutating func takePiece() -> [UInt8]? {
        guard !isEmpty else { return nil }
        let piece = pieces[first]
        pieces[first] = []
        first += 1
        if isEmpty {
            pieces.removeAll(keepingCapacity: true)
            first = 0
        }
        bytesHeld -= piece.count
        return piece
    }

    /// Drops the held pieces and returns their number of bytes.
    mutating func discard() -> Int {
        defer {
            pieces = []
            first = 0
            bytesHeld = 0
        }
        return bytesHeld
    }
}
