import TestSupport
import TomboloJSON

/// Checks values against the schemas of `Protocol/schemas` (JSON Schema 2020-12, those keywords
/// that occur there).
///
/// A keyword that it does not know is a fault: nothing is passed over in silence.
struct SchemaCheck {
    private(set) var faults: [String] = []

    /// What is wrong with `value` by the schema of that name; empty where nothing is.
    static func faults(of value: JSONView, schema name: String) throws -> [String] {
        var check = SchemaCheck()
        try check.check(value, against: try ProtocolFiles.json("schemas/\(name).json"), at: "")
        return check.faults
    }

    private mutating func check(
        _ value: JSONView, against schema: JSONView, at place: String
    ) throws {
        for (keyword, rule) in schema.members {
            switch keyword {
            case "$schema", "$id", "title", "description", "examples", "default", "format",
                "x-enum-descriptions":
                break
            case "$ref":
                let name = (rule.string ?? "").dropLast(5)
                try check(value, against: try ProtocolFiles.json("schemas/\(name).json"), at: place)
            case "type": fault(place, "type", unless: Self.isType(value, rule))
            case "enum":
                fault(
                    place, "enum",
                    unless: rule.elements.contains { $0.raw.elementsEqual(value.raw) })
            case "const": fault(place, "const", unless: rule.raw.elementsEqual(value.raw))
            case "properties", "required", "additionalProperties", "minProperties":
                try checkObject(value, keyword, rule, schema, at: place)
            case "uniqueItems":
                let texts = value.elements.map { Array($0.raw) }
                fault(place, keyword, unless: Set(texts).count == texts.count)
            case "items", "minItems", "maxItems":
                try checkArray(value, keyword, rule, at: place)
            case "minimum", "maximum", "minLength", "maxLength", "pattern":
                fault(place, keyword, unless: try Self.isWithin(value, keyword, rule))
            case "oneOf", "anyOf", "allOf": try checkChoice(value, keyword, rule, at: place)
            default: faults.append("\(place): the check does not know \"\(keyword)\"")
            }
        }
    }

    private mutating func fault(_ place: String, _ keyword: String, unless holds: Bool) {
        if !holds { faults.append("\(place): \(keyword)") }
    }

    private static func isType(_ value: JSONView, _ rule: JSONView) -> Bool {
        let names = rule.string.map { [$0] } ?? rule.elements.compactMap(\.string)
        return names.contains { name in
            switch name {
            case "object": value.kind == .object
            case "array": value.kind == .array
            case "string": value.kind == .string
            case "number": value.kind == .number
            case "integer": value.integer != nil
            case "boolean": value.kind == .bool
            case "null": value.isNull
            default: false
            }
        }
    }

    private mutating func checkObject(
        _ value: JSONView, _ keyword: String, _ rule: JSONView, _ schema: JSONView, at place: String
    ) throws {
        guard value.kind == .object else { return }
        switch keyword {
        case "properties":
            for (name, member) in rule.members {
                if let value = value[name] {
                    try check(value, against: member, at: "\(place)/\(name)")
                }
            }
        case "required":
            for name in rule.elements.compactMap(\.string) {
                fault("\(place)/\(name)", "required", unless: value[name] != nil)
            }
        case "additionalProperties":
            for (name, member) in value.members where schema["properties"]?[name] == nil {
                let place = "\(place)/\(name)"
                fault(place, keyword, unless: rule.bool != false)
                if rule.kind == .object { try check(member, against: rule, at: place) }
            }
        default: fault(place, keyword, unless: value.count >= Int(rule.integer ?? 0))
        }
    }

    private mutating func checkArray(
        _ value: JSONView, _ keyword: String, _ rule: JSONView, at place: String
    ) throws {
        guard value.kind == .array else { return }
        let limit = Int(rule.integer ?? 0)
        switch keyword {
        case "items":
            for (index, element) in value.elements.enumerated() {
                try check(element, against: rule, at: "\(place)/\(index)")
            }
        case "minItems": fault(place, keyword, unless: value.count >= limit)
        default: fault(place, keyword, unless: value.count <= limit)
        }
    }

    private static func isWithin(
        _ value: JSONView, _ keyword: String, _ rule: JSONView
    ) throws -> Bool {
        switch keyword {
        case "minimum": return value.double.map { $0 >= rule.double ?? 0 } ?? true
        case "maximum": return value.double.map { $0 <= rule.double ?? 0 } ?? true
        case "minLength": return value.string.map { $0.count >= Int(rule.integer ?? 0) } ?? true
        case "maxLength": return value.string.map { $0.count <= Int(rule.integer ?? 0) } ?? true
        default:
            let pattern = try Regex(rule.string ?? "")
            return value.string.map { $0.contains(pattern) } ?? true
        }
    }

    private mutating func checkChoice(
        _ value: JSONView, _ keyword: String, _ rule: JSONView, at place: String
    ) throws {
        var matches = 0
        for schema in rule.elements {
            var check = SchemaCheck()
            try check.check(value, against: schema, at: place)
            if check.faults.isEmpty { matches += 1 }
        }
        switch keyword {
        case "oneOf": fault(place, keyword, unless: matches == 1)
        case "anyOf": fault(place, keyword, unless: matches > 0)
        default: fault(place, keyword, unless: matches == rule.count)
        }
    }
}
