import TomboloJSON

extension StateHistory {
    /// Reads `history` of a type; nil where it is not there.
    ///
    /// - Parameter schema: of the state: a pointer that it does not describe is refused, because
    ///   the phone would pass over it.
    static func reading(_ reader: inout FieldReader, _ schema: StateSchema?) -> StateHistory? {
        guard let view = reader.object("history") else { return nil }
        var inner = reader.inside(view, "history")
        let path = pointer("path", &inner, schema)
        let of = pointer("of", &inner, schema)
        let length = inner.integer("length", in: 1...lengthMax).map { Int($0) }
        let at = inner.string("at").flatMap { text -> JSONPointer? in
            let pointer = JSONPointer(text)
            if pointer?.tokens.count != 1 {
                inner.fail("at", "must name a member of a line, such as \"/at\"")
            }
            return pointer
        }
        if let path, let of,
            path.tokens.starts(with: of.tokens) || of.tokens.starts(with: path.tokens)
        {
            inner.fail("of", "must not be in the list, nor the list in it")
        }
        if let path, path.tokens.count != 1 {
            inner.fail("path", "must name a member of the state, such as \"/history\"")
        }
        do { try inner.finish() } catch { reader.adopt(error) }
        guard let path, let of else { return nil }
        return StateHistory(path: path, length: length ?? lengthDefault, of: of, at: at)
    }

    private static func pointer(
        _ name: String, _ reader: inout FieldReader, _ schema: StateSchema?
    ) -> JSONPointer? {
        let text = reader.string(name)
        // What is there, and no text, has its fault already.
        if text == nil, reader.value(name) != nil { return nil }
        if let fault = StateSchema.fault(ofPointer: text, schema) {
            reader.fail(name, fault)
            return nil
        }
        return text.flatMap(JSONPointer.init)
    }
}
