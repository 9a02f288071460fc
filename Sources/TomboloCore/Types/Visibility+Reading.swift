import TomboloJSON

extension Visibility {
    /// Maximum numbers of pointers and of roundings. Each change looks up each pointer, and copies
    /// the state for each rounding.
    private static let countMax = 64
    private static let stepsMax = 16

    /// Reads `significant` and `round`. Returns nil if both are missing.
    ///
    /// - Parameter schema: the schema of the state. A pointer that it does not have is a fault,
    ///   because a misspelt one would hide all changes.
    static func reading(_ reader: inout FieldReader, _ schema: StateSchema?) -> Visibility? {
        let significant = pointers(&reader, schema)
        let round = roundings(&reader, schema)
        guard !significant.isEmpty || !round.isEmpty else { return nil }
        return Visibility(significant: significant, round: round)
    }

    private static func pointers(
        _ reader: inout FieldReader, _ schema: StateSchema?
    ) -> [JSONPointer] {
        guard let list = reader.value("significant") else { return [] }
        guard let texts = list.strings(atMost: countMax), !texts.isEmpty else {
            reader.fail("significant", "must list 1 to \(countMax) JSON Pointers")
            return []
        }
        return texts.compactMap { text in
            guard let message = StateSchema.fault(ofPointer: text, schema) else {
                return JSONPointer(text)
            }
            reader.fail("significant", "\"\(text)\" \(message)")
            return nil
        }
    }

    private static func roundings(
        _ reader: inout FieldReader, _ schema: StateSchema?
    ) -> [Rounding] {
        guard let object = reader.object("round") else { return [] }
        guard (1...stepsMax).contains(object.count) else {
            reader.fail("round", "must have 1 to \(stepsMax) members")
            return []
        }
        var inner = reader.inside(object, "round")
        let roundings = object.members.compactMap { text, value -> Rounding? in
            if let message = StateSchema.fault(ofPointer: text, schema) {
                inner.fail(text, message)
                return nil
            }
            guard let step = value.double, step > 0, step.isFinite,
                let pointer = JSONPointer(text)
            else {
                inner.fail(text, "must be a number above 0")
                return nil
            }
            return Rounding(pointer: pointer, step: step)
        }
        do { try inner.finish(allowingUnknown: true) } catch { reader.adopt(error) }
        return roundings
    }
}
