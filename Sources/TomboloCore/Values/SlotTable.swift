/// What a table holds. A place that nobody has is filled with `vacant`.
protocol SlotValue: Sendable {
    static var vacant: Self { get }
    var isVacant: Bool { get }
}

/// Values in places that stay theirs until they are removed; then the next value takes the place.
///
/// A value is read and changed where it is: nothing of it is copied, and no reference is counted.
/// Reading or changing a vacant place is a fault of the caller: a debug build traps, a release
/// build reads `vacant` and loses the change.
struct SlotTable<Table, Value: SlotValue>: Sendable {
    private var values = SlotArray<Table, Value>()
    private var free: [Slot<Table>] = []

    /// Every place, taken or vacant.
    var indices: Range<Slot<Table>> { values.indices }
    /// Places that are taken.
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

    /// A copy; nil for a vacant place.
    func at(_ slot: Slot<Table>) -> Value? { holds(slot) ? values[slot] : nil }

    /// Gives it the place that became vacant last, or a new one, and answers which.
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
