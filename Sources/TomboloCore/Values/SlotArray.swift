/// An array by the places of a table whose elements are read where they are.
///
/// An array's own subscript copies the element where the compiler cannot show that nobody changes
/// it meanwhile, and counts each reference in it.
struct SlotArray<Table, Element: Sendable>: RandomAccessCollection, Sendable {
    private var elements: [Element] = []

    var startIndex: Slot<Table> { Slot(0) }
    var endIndex: Slot<Table> { Slot(elements.count) }

    subscript(slot: Slot<Table>) -> Element {
        _read { yield elements.span[slot.place] }
        _modify { yield &elements[slot.place] }
    }

    /// Answers the new element's place.
    @discardableResult
    mutating func append(_ element: Element) -> Slot<Table> {
        elements.append(element)
        return Slot(elements.count - 1)
    }
}
