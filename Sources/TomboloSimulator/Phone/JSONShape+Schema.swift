package import TomboloJSON

extension JSONShape {
    /// The shape that a content state must have on the phone, from a type registered with the relay
    /// (`{"state":{JSON Schema},"dates":…}`). Without a schema any object is accepted.
    ///
    /// Like a decoder, it checks only kinds and required members, not ranges, lengths or values.
    package init(registered type: JSONView) {
        let dates: JSONShape =
            switch type["dates"]?.string {
            case "unix": .number
            case "iso8601": .string
            default: .date
            }
        let state = type["state"].map { JSONShape(schema: $0, dates: dates, isTop: true) }
        guard case .object(let members)? = state, !members.isEmpty,
            type["plays"]?.bool == true || type["animates"]?.bool == true
        else {
            self = state ?? .object([])
            return
        }
        // The relay adds this member; an app that declares it decodes it.
        let isThere = members.contains { $0.name == "clip" }
        self = .object(members + (isThere ? [] : [Member("clip", .any, isRequired: false)]))
    }

    private init(schema: JSONView, dates: JSONShape, isTop: Bool = false) {
        let kinds = schema["type"]?.string.map { [$0] } ?? Self.kinds(schema["type"])
        let format = schema["format"]?.string
        if format == "date-time" {
            self = dates
        } else if format == "uuid" {
            self = .uuid
        } else if format == "float" {
            self = .float
        } else if let properties = schema["properties"], properties.kind == .object {
            let required = Set((schema["required"]?.elements.compactMap(\.string)) ?? [])
            self = .object(
                properties.members.map { name, member in
                    Member(
                        name, JSONShape(schema: member, dates: dates),
                        isRequired: required.contains(name) && !Self.isOptional(member))
                })
        } else if isTop || kinds == ["object"] {
            self = .object([])
        } else if kinds == ["array"] {
            self = .array(schema["items"].map { JSONShape(schema: $0, dates: dates) } ?? .any)
        } else {
            self =
                ["string": .string, "number": .number, "integer": .integer, "boolean": .bool][
                    kinds.count == 1 ? kinds[0] : "", default: .any]
        }
    }

    /// The kinds in a list, without `null`, which marks an optional property.
    private static func kinds(_ list: JSONView?) -> [String] {
        list?.kind == .array
            ? list?.elements.compactMap(\.string).filter { $0 != "null" } ?? [] : []
    }

    private static func isOptional(_ schema: JSONView) -> Bool {
        guard let list = schema["type"], list.kind == .array else { return false }
        return list.elements.contains { $0.string == "null" }
    }
}
