import TomboloJSON

extension StateHistory {
    /// Reads `history` of a type. Returns nil if it is missing or faulty.
    ///
    /// - Parameters:
    ///   - schema: the schema of the state. A pointer that it does not have is a fault, because the
    /// phone would ignore the value.
    ///   - presence: the type's presence binding. It must not have the same place.
    static func reading(
        _ reader: inout FieldReader, _ schema: StateSchema?,
        besides presence: PresenceBinding? = nil
    ) -> StateHistory? {
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
        if let list = path.flatMap({ schema?.at($0) }), !list.kinds.isEmpty,
            !list.kinds.contains(.array)
        {
            inner.fail("path", "must be an array by the schema in \"state\"")
        }
        if let path, path.tokens.count != 1 {
            inner.fail("path", "must name a member of the state, such as \"/history\"")
        }
        do { try inner.finish() } catch { reader.adopt(error) }
        guard let path, let of else { return nil }
        let history = StateHistory(path: path, length: length ?? lengthDefault, of: of, at: at)
        // Producers may write neither place, so no start could be accepted.
        if let presence, history.overlaps(presence.path) {
            reader.fail("history", "must not have path or of at the path of \"presence\"")
        }
        return history
    }

    private static func pointer(
        _ name: String, _ reader: inout FieldReader, _ schema: StateSchema?
    ) -> JSONPointer? {
        let text = reader.string(name)
        // If the member is not a text, this fault is noted already.
        if text == nil, reader.value(name) != nil { return nil }
        if let fault = StateSchema.fault(ofPointer: text, schema) {
            reader.fail(name, fault)
            return nil
        }
        return text.flatMap(JSONPointer.init)
    }

    /// True if `place` contains the list or the value that lines contain, or is inside one of them.
    func overlaps(_ place: JSONPointer) -> Bool {
        [path, of].contains {
            $0.tokens.starts(with: place.tokens) || place.tokens.starts(with: $0.tokens)
        }
    }
}
