/// A document's text and tape, valid inside a closure. Code that reads many values uses it, because
/// it needs no reference counting. All indices come from the tape and all offsets from its entries,
/// so the scan guarantees that they are in range.
struct JSONSource {
    let text: UnsafeBufferPointer<UInt8>
    let tape: UnsafeBufferPointer<JSONEntry>

    /// A member, by the index of its name on the tape.
    struct Member {
        let name: Int
        var value: Int { name + 1 }
    }

    /// The members of an object, in the order of the text.
    struct Members: Sequence, IteratorProtocol {
        private let tape: UnsafeBufferPointer<JSONEntry>
        private var index: Int
        private var left: Int

        init(_ tape: UnsafeBufferPointer<JSONEntry>, object: Int) {
            self.tape = tape
            index = object + 1
            left = tape[object].kind == .object ? tape[object].count : 0
        }

        mutating func next() -> Member? {
            guard left > 0 else { return nil }
            defer { index = Int(tape[index + 1].next) }
            left -= 1
            return Member(name: index)
        }

        var underestimatedCount: Int { left }
    }

    /// The members of the object at `index`; empty for a value of another kind.
    func members(of index: Int) -> Members { Members(tape, object: index) }

    func bytes(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(rebasing: text[range])
    }

    /// The UTF-8 bytes of a string without its escapes.
    func unescaped(_ entry: JSONEntry) -> [UInt8] {
        guard entry.escapes else { return Array(bytes(entry.content)) }
        var output: [UInt8] = []
        output.reserveCapacity(entry.content.count)
        JSONText.unescape(bytes(entry.content), into: &output)
        return output
    }

    /// Calls `body` with the UTF-8 bytes of a string without its escapes.
    @inline(__always)
    func withText<Result>(
        of entry: JSONEntry, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        if entry.escapes { return unescaped(entry).withUnsafeBufferPointer(body) }
        return body(bytes(entry.content))
    }

    /// True if a name equals `name`, byte for byte without its escapes.
    @inline(__always)
    func isNamed(_ entry: JSONEntry, _ name: UnsafeBufferPointer<UInt8>) -> Bool {
        // A name without its escapes is never longer than with them.
        guard entry.escapes ? entry.content.count > name.count : entry.content.count == name.count
        else { return false }
        return withText(of: entry) { JSONText.compare($0, name) == 0 }
    }
}

extension JSONDocument {
    @inline(__always)
    func withSource<Result>(_ body: (JSONSource) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { text in
            tape.withUnsafeBufferPointer { tape in body(JSONSource(text: text, tape: tape)) }
        }
    }
}
