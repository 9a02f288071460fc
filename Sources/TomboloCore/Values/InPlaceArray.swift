/// An array whose elements are read where they are.
///
/// An array's own subscript copies the element where the compiler cannot show that nobody changes
/// it meanwhile, and counts each reference in it.
struct InPlaceArray<Element: Sendable>: RandomAccessCollection, Sendable {
    private var elements: [Element] = []

    var startIndex: Int { 0 }
    var endIndex: Int { elements.count }

    subscript(index: Int) -> Element {
        _read { yield elements.span[index] }
        _modify { yield &elements[index] }
    }

    mutating func append(_ element: Element) { elements.append(element) }
}
