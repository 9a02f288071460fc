/// One value or one member's name on the tape, in 16 bytes.
///
/// The tape is the text's values in the order in which they begin. A container's content follows
/// it; a member is a name's entry and then its value's. `next` leads past all of a value's content.
struct JSONEntry {
    enum Kind: UInt32 {
        case object, array, string, number, `true`, `false`, null
    }

    /// Offset of the first byte; for a string that is the quote.
    let start: UInt32

    /// Offset past the last byte. 0 while a container is open.
    var end: UInt32 = 0

    /// Index of the entry after this value's content. While a container is open: the index of the
    /// container around it, so that the tape is its own stack; a container at the root has its own.
    var next: UInt32

    /// Members or elements above bit 4, "has escapes" in bit 3, kind below.
    private var tag: UInt32

    init(_ kind: Kind, start: Int, end: Int = 0, next: Int, escapes: Bool = false) {
        self.start = UInt32(truncatingIfNeeded: start)
        self.end = UInt32(truncatingIfNeeded: end)
        self.next = UInt32(truncatingIfNeeded: next)
        self.tag = kind.rawValue | (escapes ? 8 : 0)
    }

    /// A value of this enum is written in `init` only, so every tag names a kind.
    var kind: Kind { Kind(rawValue: tag & 7).unsafelyUnwrapped }

    /// Whether a string has a backslash in it, or an object a name that has.
    var escapes: Bool { tag & 8 != 0 }

    /// Members of an object, elements of an array, 0 for the rest.
    var count: Int { Int(tag >> 4) }

    var range: Range<Int> { Int(start)..<Int(end) }

    /// A string's content: its range without the quotes.
    var content: Range<Int> { Int(start) + 1..<Int(end) - 1 }

    /// So many members or elements more.
    mutating func count(_ more: Int) { tag &+= UInt32(truncatingIfNeeded: more) &* 16 }

    mutating func noteEscapes() { tag |= 8 }
}
