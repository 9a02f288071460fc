import TomboloJSON

/// The Swift of a type's `ActivityAttributes`. Each state that is valid by the type's schema
/// decodes as the relay sends it, with the default `JSONDecoder` that ActivityKit uses.
struct SwiftAttributes {
    /// How the relay encodes a date in a push.
    private let dates: String
    private var needsFoundation = false
    private var needsAnyValue = false

    private init(dates: String) { self.dates = dates }

    /// The source file for a type as the relay shows it; nil if the type has no schema.
    static func source(of type: JSONView, named name: String) -> String? {
        guard let schema = type["state"], schema.kind == .object else { return nil }
        var code = SwiftAttributes(dates: type["dates"]?.string ?? "swift-reference")
        let state = code.structure("ContentState", of: schema)
        var attributes = code.attributes(of: type)
        if !attributes.isEmpty {
            attributes.insert("/// The relay writes its name for the card into each start.", at: 0)
        }
        let lines =
            ["// Made by: tombolo type codegen \(name) --swift", "import ActivityKit"]
            + (code.needsFoundation ? ["import Foundation"] : [])
            + ["", "nonisolated struct \(name): ActivityAttributes {"]
            + indented(state + (code.needsAnyValue ? [""] + anyValue : []))
            + (attributes.isEmpty ? [] : [""] + indented(attributes)) + ["}", ""]
        return lines.joined(separator: "\n")
    }

    /// The properties down to the place where the relay writes the card's name.
    private mutating func attributes(of type: JSONView) -> [String] {
        let place = type["id_at"]
        guard place?.isNull != true else { return [] }
        let pointer = place?.string.flatMap(JSONPointer.init)
        var schema = JSON(unchecked: Array(#"{"type":"string"}"#.utf8))
        for token in (pointer?.tokens ?? ["activity_id"]).reversed() {
            schema = JSON.object { [schema] writer in
                writer.member("type", "object")
                writer.object("properties") { $0.member(token, schema) }
            }
        }
        return body(of: schema.document.root)
    }

    // MARK: Declarations

    private mutating func structure(_ name: String, of schema: JSONView) -> [String] {
        ["struct \(SwiftNames.spelled(name)): Codable, Hashable {"]
            + Self.indented(body(of: schema)) + ["}"]
    }

    /// What is between the braces of a structure: nested types, properties, and their keys in JSON
    /// if Swift has other names for them.
    private mutating func body(of schema: JSONView) -> [String] {
        let members = Self.members(of: schema)
        let required = Set(schema["required"]?.strings(atMost: .max) ?? [])
        var names = SwiftNames()
        let identifiers = members.map { names.member($0.name) }
        var nested: [String] = []
        var properties: [String] = []
        for ((name, schema), identifier) in zip(members, identifiers) {
            let type = expression(of: schema, named: name, &names)
            if !type.declaration.isEmpty { nested += type.declaration + [""] }
            if let note = type.note { properties.append("/// \(note)") }
            let mark = type.isOptional || !required.contains(name) ? "?" : ""
            properties.append("var \(SwiftNames.spelled(identifier)): \(type.name)\(mark)")
        }
        guard identifiers != members.map(\.name) else { return nested + properties }
        let keys = zip(members, identifiers).map { SwiftNames.enumCase($1, $0.name) }
        return nested + properties
            + ["", "enum CodingKeys: String, CodingKey {"] + Self.indented(keys) + ["}"]
    }

    private static let anyValue = """
        /// Any value of JSON.
        enum JSONValue: Codable, Hashable {
            case null
            case bool(Bool)
            case number(Double)
            case string(String)
            case array([JSONValue])
            case object([String: JSONValue])

            init(from decoder: any Decoder) throws {
                let value = try decoder.singleValueContainer()
                if value.decodeNil() {
                    self = .null
                } else if let bool = try? value.decode(Bool.self) {
                    self = .bool(bool)
                } else if let number = try? value.decode(Double.self) {
                    self = .number(number)
                } else if let string = try? value.decode(String.self) {
                    self = .string(string)
                } else if let array = try? value.decode([JSONValue].self) {
                    self = .array(array)
                } else {
                    self = .object(try value.decode([String: JSONValue].self))
                }
            }

            func encode(to encoder: any Encoder) throws {
                var value = encoder.singleValueContainer()
                switch self {
                case .null: try value.encodeNil()
                case .bool(let bool): try value.encode(bool)
                case .number(let number): try value.encode(number)
                case .string(let string): try value.encode(string)
                case .array(let array): try value.encode(array)
                case .object(let object): try value.encode(object)
                }
            }
        }
        """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)

    private static func indented(_ lines: [String]) -> [String] {
        lines.map { $0.isEmpty ? "" : "    " + $0 }
    }

    // MARK: Types

    private struct Expression {
        var name: String
        var isOptional = false
        /// A comment for the property.
        var note: String?
        /// The lines that declare the type, if it is a nested one.
        var declaration: [String] = []
    }

    private mutating func expression(
        of schema: JSONView?, named hint: String, _ names: inout SwiftNames
    ) -> Expression {
        let values = Self.values(of: schema)
        var kinds = Self.kinds(of: schema, values)
        let isOptional = kinds.remove("null") != nil
        var type: Expression
        switch kinds.count == 1 ? kinds.first : nil {
        case "object" where !Self.members(of: schema).isEmpty:
            let name = names.typeName(hint)
            type = Expression(name: SwiftNames.spelled(name))
            type.declaration = schema.map { structure(name, of: $0) } ?? []
        case "object":
            needsAnyValue = true
            type = Expression(name: "[String: JSONValue]")
        case "array":
            type = expression(of: schema?["items"], named: hint, &names)
            type.name = "[\(type.name)\(type.isOptional ? "?" : "")]"
        case "string" where schema?["format"]?.string == "date-time": type = date()
        case "string", "integer":
            type = text(schema, kinds.first == "integer" ? "Int" : "String", values, hint, &names)
        case "number": type = Expression(name: "Double")
        case "boolean": type = Expression(name: "Bool")
        default:
            needsAnyValue = true
            type = Expression(name: "JSONValue", note: "The schema gives no single type.")
        }
        type.isOptional = isOptional
        return type
    }

    /// A date as it is in a push. `Date` decodes from seconds since 2001 and from nothing else.
    private mutating func date() -> Expression {
        switch dates {
        case "unix": return Expression(name: "Double", note: "Seconds since 1970.")
        case "iso8601":
            return Expression(
                name: "String", note: "A time as in RFC 3339, which `Date` does not decode.")
        default:
            needsFoundation = true
            return Expression(name: "Date")
        }
    }

    /// A text or a whole number; an enum if the schema lists the values.
    private mutating func text(
        _ schema: JSONView?, _ raw: String, _ values: [JSONView]?, _ hint: String,
        _ names: inout SwiftNames
    ) -> Expression {
        guard let values else {
            guard schema?["format"]?.string == "uuid", raw == "String" else {
                return Expression(name: raw)
            }
            needsFoundation = true
            return Expression(name: "UUID")
        }
        let name = names.typeName(hint)
        var cases = SwiftNames()
        var known: Set<String> = []
        let lines = values.compactMap { value -> String? in
            let text = value.string ?? value.integer.map(String.init) ?? ""
            guard !value.isNull, known.insert(text).inserted else { return nil }
            let identifier = cases.caseName(text)
            guard raw == "Int" else { return SwiftNames.enumCase(identifier, text) }
            return "case \(identifier) = \(text)"
        }
        return Expression(
            name: SwiftNames.spelled(name),
            declaration: ["enum \(SwiftNames.spelled(name)): \(raw), Codable, Hashable {"]
                + Self.indented(lines) + ["}"])
    }

    // MARK: The schema

    /// The members that the schema names, in its order. Texts that Swift takes for the same one are
    /// one member.
    private static func members(of schema: JSONView?) -> [(name: String, schema: JSONView?)] {
        guard let schema else { return [] }
        var known: Set<String> = []
        let described = schema["properties"].map { Array($0.members) } ?? []
        let named = schema["required"]?.strings(atMost: .max) ?? []
        return (described.map { ($0.name, $0.value) } + named.map { ($0, nil) })
            .filter { known.insert($0.0).inserted }
    }

    /// The values that the schema lists and that its types allow; nil if it allows others.
    private static func values(of schema: JSONView?) -> [JSONView]? {
        guard let schema else { return nil }
        let lists = schema.members.filter { $0.name == "enum" || $0.name == "const" }
        guard let (keyword, value) = lists.last else { return nil }
        let declared = declaredKinds(of: schema)
        return (keyword == "const" ? [value] : Array(value.elements)).filter { value in
            guard let declared else { return true }
            let kind = kind(of: value)
            return declared.contains(kind) || kind == "integer" && declared.contains("number")
        }
    }

    /// The types of the valid values, by JSON Schema's names; empty: any.
    private static func kinds(of schema: JSONView?, _ values: [JSONView]?) -> Set<String> {
        var kinds = values.map { Set($0.map(kind)) } ?? schema.flatMap(declaredKinds) ?? []
        if kinds.contains("number") { kinds.remove("integer") }
        return kinds
    }

    private static func declaredKinds(of schema: JSONView) -> Set<String>? {
        schema["type"].map { Set($0.string.map { [$0] } ?? $0.strings(atMost: .max) ?? []) }
    }

    private static func kind(of value: JSONView) -> String {
        switch value.kind {
        case .number: value.integer == nil ? "number" : "integer"
        case .bool: "boolean"
        case .object, .array, .string, .null: value.kind.rawValue
        }
    }
}
