/// An array indexed by a table's slots, whose elements are read in place.
///
/// An array's own subscript copies the element, and counts each reference in it, unless the
/// compiler can show that nobody changes it meanwhile.
struct SlotArray<Table, Element: Sendable>: RandomAccessCollection, Sendable {
    private var elements: [Element] = []

    var startIndex: Slot<Table> { Slot(0) }
    var endIndex: Slot<Table> { Slot(elements.count) }

    subscript(slot: Slot<Table>) -> Element {
        _read { yield elements.span[slot.place] }
        _modify { yield &elements[slot.place] }
    }

    /// Returns the new element's slot.
    @discardableResult
    mutating func append(_ element: Element) -> Slot<Table> {
        elements.append(element)
        return Slot(elements.count - 1)
    }
}
