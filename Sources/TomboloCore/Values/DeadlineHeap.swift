/// One deadline for each slot. Setting or removing one costs O(log n).
struct DeadlineHeap<Table>: Sendable {
    private struct Node {
        var at: Instant
        var slot: Int32
    }

    private var nodes: [Node] = []
    /// The index in `nodes` for each slot; -1: the slot has no deadline.
    private var places: [Int32] = []

    init() {}

    var first: Instant? { nodes.first?.at }
    var count: Int { nodes.count }

    func at(_ slot: Slot<Table>) -> Instant? {
        guard slot.place < places.count, places[slot.place] >= 0 else { return nil }
        return nodes[Int(places[slot.place])].at
    }

    mutating func set(_ slot: Slot<Table>, at instant: Instant?) {
        let slot = slot.place
        while places.count <= slot { places.append(-1) }
        let place = Int(places[slot])
        switch (place >= 0, instant) {
        case (false, nil): break
        case (false, let instant?):
            nodes.append(Node(at: instant, slot: Int32(slot)))
            places[slot] = Int32(nodes.count - 1)
            rise(nodes.count - 1)
        case (true, nil): remove(place)
        case (true, let instant?):
            let before = nodes[place].at
            nodes[place].at = instant
            if instant < before { rise(place) } else { sink(place) }
        }
    }

    /// Removes the earliest deadline if it is not after `now`, and returns its slot. Of equal
    /// deadlines, the one of the lowest slot comes first.
    mutating func pop(until now: Instant) -> Slot<Table>? {
        guard let first = nodes.first, first.at <= now else { return nil }
        remove(0)
        return Slot(Int(first.slot))
    }

    private mutating func remove(_ place: Int) {
        places[Int(nodes[place].slot)] = -1
        let last = nodes.removeLast()
        guard place < nodes.count else { return }
        nodes[place] = last
        places[Int(last.slot)] = Int32(place)
        rise(place)
        sink(Int(places[Int(last.slot)]))
    }

    private func isBefore(_ one: Node, _ other: Node) -> Bool {
        one.at != other.at ? one.at < other.at : one.slot < other.slot
    }

    // The moving node is stored once, at its final place, because `places` has its slot's entry
    // anywhere in memory.

    private mutating func rise(_ start: Int) {
        var place = start
        let node = nodes[start]
        while place > 0 {
            let parent = (place - 1) / 2
            guard isBefore(node, nodes[parent]) else { break }
            put(nodes[parent], at: place)
            place = parent
        }
        put(node, at: place)
    }

    private mutating func sink(_ start: Int) {
        var place = start
        let node = nodes[start]
        while true {
            var child = 2 * place + 1
            guard child < nodes.count else { break }
            if child + 1 < nodes.count, isBefore(nodes[child + 1], nodes[child]) { child += 1 }
            guard isBefore(nodes[child], node) else { break }
            put(nodes[child], at: place)
            place = child
        }
        put(node, at: place)
    }

    private mutating func put(_ node: Node, at place: Int) {
        nodes[place] = node
        places[Int(node.slot)] = Int32(place)
    }
}
