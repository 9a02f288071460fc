/// A list of slots, half as large as an array of them. Each device and each activity has one for
/// its destinations; most lists are short.
struct SlotList<Table>: RandomAccessCollection, Hashable, Sendable,
    ExpressibleByArrayLiteral
{
    private var slots: [Int32]

    /// Keeps the order of insertion.
    init(arrayLiteral slots: Slot<Table>...) { self.slots = slots.map { Int32($0.place) } }

    var startIndex: Int { 0 }
    var endIndex: Int { slots.count }
    subscript(position: Int) -> Slot<Table> { Slot(Int(slots[position])) }

    mutating func append(_ slot: Slot<Table>) { slots.append(Int32(slot.place)) }

    mutating func remove(_ slot: Slot<Table>) { slots.removeAll { $0 == slot.place } }

    mutating func reserveCapacity(_ count: Int) { slots.reserveCapacity(count) }
}
