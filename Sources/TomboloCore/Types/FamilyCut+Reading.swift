import TomboloJSON

extension FamilyCuts {
    /// Reads `families`. Returns nil if it is missing.
    ///
    /// - Parameter schema: the schema of the state. A pointer to a place that it does not have is a
    ///   fault, because a widget would never get a value from there.
    static func reading(_ reader: inout FieldReader, _ schema: StateSchema?) -> FamilyCuts? {
        guard let view = reader.object("families") else { return nil }
        var inner = reader.inside(view, "families")
        var parts: [WidgetFamily: [FamilyCut.Part]] = [:]
        let names = WidgetFamily.allCases.map(\.rawValue)
        for (name, value) in view.members {
            guard let family = WidgetFamily(rawValue: name) else {
                let near = nearestName(to: name, among: names)
                inner.fail(
                    name,
                    "is no family of WidgetKit"
                        + (near.map { "; did you mean \"\($0)\"?" }
                            ?? ": there are \(names.joined(separator: ", "))"))
                continue
            }
            parts[family] = self.parts(value, name, &inner, schema)
        }
        if view.count == 0 { reader.fail("families", "must name at least one family") }
        do { try inner.finish(allowingUnknown: true) } catch { reader.adopt(error) }
        return FamilyCuts(parts)
    }

    private static func parts(
        _ list: JSONView, _ name: String, _ reader: inout FieldReader, _ schema: StateSchema?
    ) -> [FamilyCut.Part] {
        guard list.kind == .array, (1...FamilyCut.partsMax).contains(list.count) else {
            reader.fail(
                name,
                "must list 1 to \(FamilyCut.partsMax) JSON Pointers, or {\"path\", \"length\"}")
            return []
        }
        var parts: [FamilyCut.Part] = []
        for (index, value) in list.elements.enumerated() {
            let pointer = "\(reader.path(name))/\(index)"
            if value.kind == .object {
                var part = FieldReader(value, pointer: pointer)
                if let found = self.part(&part, schema) { parts.append(found) }
                do { try part.finish() } catch { reader.adopt(error) }
                continue
            }
            if let fault = fault(ofPath: value.string, schema) {
                reader.adopt(FieldErrors([FieldError(pointer: pointer, message: fault)]))
            } else if let path = value.string.flatMap(JSONPointer.init) {
                parts.append(FamilyCut.Part(path: path))
            }
        }
        return parts
    }

    private static func part(
        _ reader: inout FieldReader, _ schema: StateSchema?
    ) -> FamilyCut.Part? {
        let text = reader.string("path")
        let length = reader.integer("length", in: 1...FamilyCut.lengthMax).map { Int($0) }
        if let fault = fault(ofPath: text, schema) {
            reader.fail("path", fault)
            return nil
        }
        return text.flatMap(JSONPointer.init).map { FamilyCut.Part(path: $0, length: length) }
    }

    private static func fault(ofPath text: String?, _ schema: StateSchema?) -> String? {
        if let fault = StateSchema.fault(ofPointer: text, schema) { return fault }
        var (tokens, place) = (text.flatMap(JSONPointer.init)?.tokens ?? [], schema)
        while let token = tokens.first {
            guard place?.items.isEmpty ?? true else {
                return "leads into a list: name the list, with a \"length\""
            }
            place = place?[token]
            tokens.removeFirst()
        }
        return nil
    }
}
