/// Hash table with open addressing for integers that the log assigns in order. It costs a third of
/// a `Dictionary`, because it need not resist an attacker who chooses the keys.
struct NumberTable<Value> {
    private struct Slot {
        /// `free` if the slot holds no entry.
        var number: Int64
        var value: Value
    }

    private static var slotsMin: Int { 16 }
    private static var free: Int64 { .min }

    private var slots: [Slot]
    private let empty: Value
    private(set) var count = 0

    /// `empty` fills the value of free slots and is never returned.
    init(empty: Value) {
        self.empty = empty
        slots = Array(repeating: Slot(number: Self.free, value: empty), count: Self.slotsMin)
    }

    subscript(_ number: Int64) -> Value? {
        get {
            let index = place(number)
            return slots[index].number == number ? slots[index].value : nil
        }
        set {
            guard let newValue else { return remove(number) }
            set(number, newValue)
        }
    }

    /// Calls `body` with each number and value, in no order.
    func forEach(_ body: (Int64, Value) -> Void) {
        for slot in slots where slot.number != Self.free { body(slot.number, slot.value) }
    }

    private mutating func set(_ number: Int64, _ value: Value) {
        var index = place(number)
        if slots[index].number == Self.free {
            if (count + 1) * 4 > slots.count * 3 {
                resize(slots.count * 2)
                index = place(number)
            }
            slots[index].number = number
            count += 1
        }
        slots[index].value = value
    }

    private mutating func remove(_ number: Int64) {
        var hole = place(number)
        guard slots[hole].number == number else { return }
        count -= 1
        // Close the hole: move later entries into it, unless this puts them before their home slot.
        var index = hole
        while true {
            index = (index + 1) & (slots.count - 1)
            guard slots[index].number != Self.free else { break }
            let home = home(slots[index].number)
            let distance = (index &- home) & (slots.count - 1)
            if distance >= (index &- hole) & (slots.count - 1) {
                slots[hole] = slots[index]
                hole = index
            }
        }
        slots[hole] = Slot(number: Self.free, value: empty)
        if slots.count > Self.slotsMin, count * 8 < slots.count { resize(slots.count / 2) }
    }

    /// The slot with `number`, or the free slot where it can be inserted.
    @inline(__always)
    private func place(_ number: Int64) -> Int {
        var index = home(number)
        while slots[index].number != Self.free, slots[index].number != number {
            index = (index + 1) & (slots.count - 1)
        }
        return index
    }

    /// The slot where the search for `number` begins. Eight consecutive numbers stay together,
    /// because they are used together. Groups of eight are spread (Fibonacci hashing), so that two
    /// dense ranges do not make long searches.
    @inline(__always)
    private func home(_ number: Int64) -> Int {
        let bits = UInt64(bitPattern: number)
        let group = ((bits >> 3) &* 0x9e37_79b9_7f4a_7c15) >> 32
        return Int(truncatingIfNeeded: (group << 3) | (bits & 7)) & (slots.count - 1)
    }

    private mutating func resize(_ slotCount: Int) {
        let old = slots
        slots = Array(repeating: Slot(number: Self.free, value: empty), count: slotCount)
        for slot in old where slot.number != Self.free { slots[place(slot.number)] = slot }
    }
}
