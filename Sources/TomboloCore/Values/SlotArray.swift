/// An array with slots as indices, whose elements are read in place. It grows in chunks, which are
/// never copied: no insertion takes longer the more elements there are.
///
/// `Array`'s subscript copies the element and retains each reference in it, unless the compiler can
/// prove that the array does not change meanwhile.
struct SlotArray<Table, Element: Sendable>: RandomAccessCollection, Sendable {
    private static var chunkBits: Int { 10 }
    private static var chunkSize: Int { 1 << chunkBits }

    /// All but the last are full.
    private var chunks: [[Element]] = []

    var startIndex: Slot<Table> { Slot(0) }
    var endIndex: Slot<Table> {
        guard let last = chunks.last else { return Slot(0) }
        return Slot((chunks.count - 1) << Self.chunkBits + last.count)
    }

    subscript(slot: Slot<Table>) -> Element {
        @inline(__always) _read {
            let chunk = chunks.span[slot.place >> Self.chunkBits]
            yield chunk.span[slot.place & (Self.chunkSize - 1)]
        }
        @inline(__always) _modify {
            yield &chunks[slot.place >> Self.chunkBits][slot.place & (Self.chunkSize - 1)]
        }
    }

    /// Adds an element. Returns its slot.
    @discardableResult
    mutating func append(_ element: Element) -> Slot<Table> {
        let slot = endIndex
        if slot.place & (Self.chunkSize - 1) == 0 {
            var chunk: [Element] = []
            // A small table has one small chunk.
            if !chunks.isEmpty { chunk.reserveCapacity(Self.chunkSize) }
            chunks.append(chunk)
        }
        chunks[chunks.count - 1].append(element)
        return slot
    }
}
