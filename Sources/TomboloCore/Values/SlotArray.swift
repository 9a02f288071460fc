/// An array with slots as indices, whose elements are read in place.
///
/// `Array`'s subscript copies the element and retains each reference in it, unless the compiler can
/// prove that the array does not change meanwhile.
struct SlotArray<Table, Element: Sendable>: RandomAccessCollection, Sendable {
    private var elements: [Element] = []

    var startIndex: Slot<Table> { Slot(0) }
    var endIndex: Slot<Table> { Slot(elements.count) }

    subscript(slot: Slot<Table>) -> Element {
        _read { yield elements.span[slot.place] }
        _modify { yield &elements[slot.place] }
    }

    /// Adds an element. Returns its slot.
    @discardableResult
    mutating func append(_ element: Element) -> Slot<Table> {
        elements.append(element)
        return Slot(elements.count - 1)
    }
}
