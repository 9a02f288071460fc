/// A first-in, first-out queue in an array, whose first elements may be unused.
struct TurnQueue<Element: Equatable & Sendable>: Sendable {
    private var turns: [Element] = []
    private var head = 0

    var isEmpty: Bool { head == turns.count }
    var count: Int { turns.count - head }

    var first: Element? { isEmpty ? nil : turns[head] }

    func contains(_ turn: Element) -> Bool { turns[head...].contains(turn) }

    mutating func append(_ turn: Element) { turns.append(turn) }

    /// Adds a turn before all others.
    mutating func putFirst(_ turn: Element) {
        if head > 0 { head -= 1 } else { turns.insert(turn, at: 0) }
        turns[head] = turn
    }

    /// Removes the first equal turn. Returns false if the queue has none.
    mutating func remove(_ turn: Element) -> Bool {
        guard let place = turns[head...].firstIndex(of: turn) else { return false }
        turns.remove(at: place)
        return true
    }

    mutating func popFirst() -> Element? {
        guard head < turns.count else { return nil }
        defer {
            head += 1
            if head == turns.count {
                turns.removeAll(keepingCapacity: true)
                head = 0
            } else if head > 1_024, head * 2 > turns.count {
                turns.removeFirst(head)
                head = 0
            }
        }
        return turns[head]
    }
}
