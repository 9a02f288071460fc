/// One value in a document. Copies are cheap: a view has two buffers of the document and an index.
///
/// If a value is read as another kind, the result is nil or empty. Nothing here throws or traps.
package struct JSONView: Sendable {
    /// The six kinds of RFC 8259 section 3.
    package enum Kind: String, Hashable, Sendable {
        case object, array, string, number, bool, null
    }

    let document: JSONDocument
    let index: Int

    var entry: JSONEntry { document.tape[index] }

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

    /// The value's bytes, without white space around them; a string's have its quotes.
    package var raw: ArraySlice<UInt8> { document.bytes[entry.range] }

    /// A copy of the value that keeps nothing else of the document in memory. Comments inside the
    /// value are removed, so that the copy is plain JSON.
    package var json: JSON {
        document.comments ? JSON(unchecked: bytesWithoutComments) : JSON(unchecked: Array(raw))
    }

    /// Line and column of the value's first byte, from 1. The text is read up to there, so use it
    /// only for messages.
    package var position: (line: Int, column: Int) {
        document.bytes.withUnsafeBufferPointer { text in
            let place = JSONPlace(offset: Int(entry.start), in: text)
            return (place.line, place.column)
        }
    }

    /// The string without its escapes; nil for another kind.
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

    /// The value at one token of a pointer: the member with this name, or the element with this
    /// index.
    func step(_ token: String) -> JSONView? {
        switch entry.kind {
        case .object: self[token]
        case .array: JSONPointer.arrayIndex(token).flatMap(element(at:))
        default: nil
        }
    }
}

extension JSONDocument {
    /// The text of a string without its escapes.
    func text(of entry: JSONEntry) -> String {
        guard entry.escapes else { return String(decoding: bytes[entry.content], as: UTF8.self) }
        return withSource { String(decoding: $0.unescaped(entry), as: UTF8.self) }
    }
}
