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
struct SlotTable<Value: SlotValue>: Sendable {
    private var values = InPlaceArray<Value>()
    private var free: [Int] = []

    /// Every place, taken or vacant.
    var indices: Range<Int> { values.indices }
    /// Places that are taken.
    var count: Int { values.count - free.count }

    subscript(slot: Int) -> Value {
        _read {
            assert(!values[slot].isVacant, "nobody has this place")
            yield values[slot]
        }
        _modify {
            assert(!values[slot].isVacant, "nobody has this place")
            yield &values[slot]
        }
    }

    func holds(_ slot: Int) -> Bool { slot < values.count && !values[slot].isVacant }

    /// A copy; nil for a vacant place.
    func at(_ slot: Int) -> Value? { holds(slot) ? values[slot] : nil }

    /// Gives it the place that became vacant last, or a new one, and answers which.
    mutating func insert(_ value: Value) -> Int {
        guard let slot = free.popLast() else {
            values.append(value)
            return values.count - 1
        }
        values[slot] = value
        return slot
    }

    mutating func remove(_ slot: Int) {
        guard holds(slot) else { return }
        values[slot] = .vacant
        free.append(slot)
    }
}
