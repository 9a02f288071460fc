/// An entry of the tape: one value or one member's name, in 16 bytes.
///
/// The tape has the values in the order in which they begin in the text. The content of an object
/// or array follows its entry; a member is the entry of its name and the entry of its value. `next`
/// is the entry after all content of a value.
struct JSONEntry: Equatable {
    enum Kind: UInt32 {
        case object, array, string, number, `true`, `false`, null
    }

    /// Offset of the first byte; for a string, of its opening quote.
    var start: UInt32

    /// Offset after the last byte; 0 while an object or array is not closed.
    var end: UInt32 = 0

    /// Index of the entry after this value's content. While an object or array is not closed: index
    /// of the enclosing one, so that no stack is needed; the outermost one has its own index.
    var next: UInt32

    /// Bits 0 to 2: the kind. Bit 3: has escapes. From bit 4 on: number of members or elements.
    private var tag: UInt32

    init(_ kind: Kind, start: Int, end: Int = 0, next: Int, escapes: Bool = false) {
        self.start = UInt32(truncatingIfNeeded: start)
        self.end = UInt32(truncatingIfNeeded: end)
        self.next = UInt32(truncatingIfNeeded: next)
        self.tag = kind.rawValue | (escapes ? 8 : 0)
    }

    /// `init` writes the kind and nothing changes it, so it is always valid.
    var kind: Kind { Kind(rawValue: tag & 7).unsafelyUnwrapped }

    /// True if a string has a backslash, or if an object has a name with one.
    var escapes: Bool { tag & 8 != 0 }

    /// Number of an object's members or an array's elements; 0 for other kinds.
    var count: Int { Int(tag >> 4) }

    var range: Range<Int> { Int(start)..<Int(end) }

    /// A string's content: its range without the quotes.
    var content: Range<Int> { Int(start) + 1..<Int(end) - 1 }

    /// Adds to the number of members or elements.
    mutating func count(_ more: Int) { tag &+= UInt32(truncatingIfNeeded: more) &* 16 }

    mutating func noteEscapes() { tag |= 8 }
}
