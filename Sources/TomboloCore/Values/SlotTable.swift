/// A value in a `SlotTable`. Free slots contain `vacant`.
protocol SlotValue: Sendable {
    static var vacant: Self { get }
    var isVacant: Bool { get }
}

/// Values in slots. A slot belongs to its value until `remove`; then another value may get it.
///
/// Values are read and changed in place, without copies. Do not access a free slot: a debug build
/// traps; a release build reads `vacant`, and a change is lost.
struct SlotTable<Table, Value: SlotValue>: Sendable {
    private var values = SlotArray<Table, Value>()
    private var free: [Slot<Table>] = []

    var indices: Range<Slot<Table>> { values.indices }
    var count: Int { values.count - free.count }

    subscript(slot: Slot<Table>) -> Value {
        @inline(__always) _read {
            assert(!values[slot].isVacant, "nobody has this place")
            yield values[slot]
        }
        @inline(__always) _modify {
            assert(!values[slot].isVacant, "nobody has this place")
            yield &values[slot]
        }
    }

    func holds(_ slot: Slot<Table>) -> Bool {
        slot < values.endIndex && !values[slot].isVacant
    }

    func at(_ slot: Slot<Table>) -> Value? { holds(slot) ? values[slot] : nil }

    mutating func insert(_ value: Value) -> Slot<Table> {
        guard let slot = free.popLast() else { return values.append(value) }
        values[slot] = value
        return slot
    }

    mutating func remove(_ slot: Slot<Table>) {
        guard holds(slot) else { return }
        values[slot] = .vacant
        free.append(slot)
    }
}
