/// One value or one member's name on the tape, in 16 bytes.
///
/// The tape has the text's values in the order in which they begin. A container's content follows
/// it; a member is a name's entry followed by its value's. `next` points after all of a value's
/// content.
struct JSONEntry {
    enum Kind: UInt32 {
        case object, array, string, number, `true`, `false`, null
    }

    /// Offset of the first byte; for a string, of the quote.
    let start: UInt32

    /// Offset after the last byte; 0 while a container is open.
    var end: UInt32 = 0

    /// Index of the entry after this value's content. While a container is open: index of the
    /// enclosing container, so that the tape is its own stack; a root container has its own index.
    var next: UInt32

    /// From bit 4 up: number of members or elements. Bit 3: "has escapes". Below: kind.
    private var tag: UInt32

    init(_ kind: Kind, start: Int, end: Int = 0, next: Int, escapes: Bool = false) {
        self.start = UInt32(truncatingIfNeeded: start)
        self.end = UInt32(truncatingIfNeeded: end)
        self.next = UInt32(truncatingIfNeeded: next)
        self.tag = kind.rawValue | (escapes ? 8 : 0)
    }

    /// Only `init` writes the kind, so every tag has a valid one.
    var kind: Kind { Kind(rawValue: tag & 7).unsafelyUnwrapped }

    /// True if a string has a backslash, or an object has a name with one.
    var escapes: Bool { tag & 8 != 0 }

    /// Number of an object's members or an array's elements; 0 for other kinds.
    var count: Int { Int(tag >> 4) }

    var range: Range<Int> { Int(start)..<Int(end) }

    /// A string's content: its range without the quotes.
    var content: Range<Int> { Int(start) + 1..<Int(end) - 1 }

    /// Adds `more` members or elements.
    mutating func count(_ more: Int) { tag &+= UInt32(truncatingIfNeeded: more) &* 16 }

    mutating func noteEscapes() { tag |= 8 }
}
