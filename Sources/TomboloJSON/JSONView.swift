/// One value in a document. Cheap to copy: it holds the document's two buffers and an index.
///
/// Reading it as another kind returns nil or an empty sequence. Nothing here throws or traps.
package struct JSONView: Sendable {
    /// The six kinds of RFC 8259 section 3.
    package enum Kind: String, Hashable, Sendable {
        case object, array, string, number, bool, null
    }

    let document: JSONDocument
    let index: Int

    var entry: JSONEntry { document.tape[index] }

    /// Kind of the value.
    package var kind: Kind {
        switch entry.kind {
        case .object: .object
        case .array: .array
        case .string: .string
        case .number: .number
        case .true, .false: .bool
        case .null: .null
        }
    }

    /// The value's bytes without surrounding white space, including a string's quotes.
    package var raw: ArraySlice<UInt8> { document.bytes[entry.range] }

    /// A copy that retains nothing else of the document. Comments inside the value are left out, so
    /// that the copy is plain JSON.
    package var json: JSON {
        document.comments ? JSON(unchecked: bytesWithoutComments) : JSON(unchecked: Array(raw))
    }

    /// Line and column of the value's first byte, from 1. Counted by walking the text, so use it
    /// for messages only.
    package var position: (line: Int, column: Int) {
        document.bytes.withUnsafeBufferPointer { text in
            let place = JSONPlace(offset: Int(entry.start), in: text)
            return (place.line, place.column)
        }
    }

    /// The unescaped string; nil for another kind.
    package var string: String? {
        let entry = entry
        guard entry.kind == .string else { return nil }
        return document.text(of: entry)
    }

    /// The boolean; nil for another kind.
    package var bool: Bool? {
        switch entry.kind {
        case .true: true
        case .false: false
        default: nil
        }
    }

    /// True if the value is `null`.
    package var isNull: Bool { entry.kind == .null }

    /// The value at a pointer from here (RFC 6901 section 4); nil if there is none. `-`, the place
    /// after an array's last element, never has a value.
    package func at(_ pointer: JSONPointer) -> JSONView? {
        var view = self
        for token in pointer.tokens {
            guard let next = view.step(token) else { return nil }
            view = next
        }
        return view
    }

    /// The value at one token of a pointer: a member's name, or an element's index.
    func step(_ token: String) -> JSONView? {
        switch entry.kind {
        case .object: self[token]
        case .array: JSONPointer.arrayIndex(token).flatMap(element(at:))
        default: nil
        }
    }
}

extension JSONDocument {
    /// The unescaped text of a string's entry.
    func text(of entry: JSONEntry) -> String {
        guard entry.escapes else { return String(decoding: bytes[entry.content], as: UTF8.self) }
        return withSource { String(decoding: $0.unescaped(entry), as: UTF8.self) }
    }
}
