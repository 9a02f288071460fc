/// A value in a table. A free slot contains `vacant`.
protocol SlotValue: Sendable {
    static var vacant: Self { get }
    var isVacant: Bool { get }
}

/// Values in slots that remain theirs until they are removed; then the next value takes the slot.
///
/// A value is read and changed in place: nothing is copied, and no reference is counted. Callers
/// must not read or change a vacant slot: a debug build traps, a release build reads `vacant` and
/// loses the change.
struct SlotTable<Table, Value: SlotValue>: Sendable {
    private var values = SlotArray<Table, Value>()
    private var free: [Slot<Table>] = []

    /// Every slot, taken or vacant.
    var indices: Range<Slot<Table>> { values.indices }
    /// The number of taken slots.
    var count: Int { values.count - free.count }

    subscript(slot: Slot<Table>) -> Value {
        _read {
            assert(!values[slot].isVacant, "nobody has this place")
            yield values[slot]
        }
        _modify {
            assert(!values[slot].isVacant, "nobody has this place")
            yield &values[slot]
        }
    }

    func holds(_ slot: Slot<Table>) -> Bool {
        slot < values.endIndex && !values[slot].isVacant
    }

    /// A copy of the value; nil for a vacant slot.
    func at(_ slot: Slot<Table>) -> Value? { holds(slot) ? values[slot] : nil }

    /// Stores the value in the slot that became vacant last, or in a new one. Returns the slot.
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
