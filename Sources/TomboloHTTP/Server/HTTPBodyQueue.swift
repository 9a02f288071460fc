/// The part of a request's body that has arrived and is not taken. Pure.
struct HTTPBodyQueue {
    /// Up to so many bytes, pieces are joined.
    private static let pieceBytesMax = 16_384

    private var pieces: [[UInt8]] = []
    private var first = 0
    private(set) var bytesHeld = 0
    /// The whole body has arrived; pieces may still be held.
    private(set) var isComplete = false

    var isEmpty: Bool { first == pieces.count }

    mutating func append(_ piece: [UInt8]) {
        guard !piece.isEmpty else { return }
        bytesHeld += piece.count
        // A peer may send byte by byte: an array of its own for each would cost 48 times as much.
        if !isEmpty, let last = pieces.indices.last,
            pieces[last].count + piece.count <= Self.pieceBytesMax
        {
            pieces[last] += piece
        } else {
            pieces.append(piece)
        }
    }

    mutating func complete() { isComplete = true }

    /// The oldest piece. A queue that ran empty starts at its front again, so nothing is moved.
    mutating func take() -> [UInt8]? {
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

    /// Drops what is held, and answers how many bytes that were.
    mutating func discard() -> Int {
        defer {
            pieces = []
            first = 0
            bytesHeld = 0
        }
        return bytesHeld
    }
}
