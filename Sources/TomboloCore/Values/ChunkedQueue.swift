/// A first-in, first-out queue in chunks, which are never copied.
struct ChunkedQueue<Element: Sendable>: Sendable {
    private static var chunkSize: Int { 4_096 }

    private var chunks: [[Element]] = []
    /// How many elements of the first chunk have left.
    private var head = 0
    private(set) var count = 0

    var first: Element? { count == 0 ? nil : chunks[0][head] }

    mutating func enqueue(_ element: Element) {
        if chunks.last.map({ $0.count == Self.chunkSize }) ?? true { chunks.append([]) }
        chunks[chunks.count - 1].append(element)
        count += 1
    }

    mutating func removeFirst() {
        (head, count) = (head + 1, count - 1)
        guard head == chunks[0].count else { return }
        chunks.removeFirst()
        head = 0
    }
}
