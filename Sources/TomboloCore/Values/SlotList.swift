/// Places in the core's tables, in half the room of `[Int]`: a device and an activity each keep a
/// list of their destinations, and most are short.
package struct SlotList: RandomAccessCollection, Hashable, Sendable, ExpressibleByArrayLiteral {
    private var slots: [Int32]

    /// In the order of their coming.
    package init(arrayLiteral slots: Int...) { self.slots = slots.map { Int32($0) } }

    package var startIndex: Int { 0 }
    package var endIndex: Int { slots.count }
    package subscript(place: Int) -> Int { Int(slots[place]) }

    mutating func append(_ slot: Int) { slots.append(Int32(slot)) }

    mutating func remove(_ slot: Int) { slots.removeAll { $0 == slot } }

    mutating func reserveCapacity(_ count: Int) { slots.reserveCapacity(count) }
}
