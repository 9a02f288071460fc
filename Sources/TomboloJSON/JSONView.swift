/// One value inside a document. Cheap to copy: the document's two buffers and an index.
///
/// Asking for what the value is not gives nil, or nothing to walk over; nothing here fails or
/// traps.
package struct JSONView: Sendable {
    /// The six kinds of RFC 8259 section 3.
    package enum Kind: String, Hashable, Sendable {
        case object, array, string, number, bool, null
    }

    let document: JSONDocument
    let index: Int

    var entry: JSONEntry { document.tape[index] }

    /// What the value is.
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

    /// The value's own bytes, without space around it; the quotes of a string included.
    package var raw: ArraySlice<UInt8> { document.bytes[entry.range] }

    /// A copy that keeps nothing else of the document alive. Where comments were allowed and are
    /// inside the value, they are left out, so that the copy is JSON for everybody.
    package var json: JSON {
        document.comments ? JSON(unchecked: bytesWithoutComments) : JSON(unchecked: Array(raw))
    }

    /// Line and column of the value's first byte, from 1, counted by walking the text up to it: for
    /// messages, not for every value.
    package var position: (line: Int, column: Int) {
        document.bytes.withUnsafeBufferPointer { text in
            let place = JSONPlace(offset: Int(entry.start), in: text)
            return (place.line, place.column)
        }
    }

    /// What the string says, unescaped; nil for another kind.
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

    /// Whether the value is `null`.
    package var isNull: Bool { entry.kind == .null }

    /// The value a pointer leads to from here (RFC 6901 section 4); nil if there is none. `-`, the
    /// place after an array's last element, never holds a value.
    package func at(_ pointer: JSONPointer) -> JSONView? {
        var view = self
        for token in pointer.tokens {
            guard let next = view.step(token) else { return nil }
            view = next
        }
        return view
    }

    /// One token of a pointer: a member's name, or an element's index.
    func step(_ token: String) -> JSONView? {
        switch entry.kind {
        case .object: self[token]
        case .array: JSONPointer.arrayIndex(token).flatMap(element(at:))
        default: nil
        }
    }
}

extension JSONDocument {
    /// What a string's entry says.
    func text(of entry: JSONEntry) -> String {
        guard entry.escapes else { return String(decoding: bytes[entry.content], as: UTF8.self) }
        return withSource { String(decoding: $0.unescaped(entry), as: UTF8.self) }
    }
}
