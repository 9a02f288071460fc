package import TomboloJSON

extension StateSchema {
    /// Maximum depth of a schema: that of JSON in requests (`JSONLimits`).
    private static let depthMax = JSONLimits.receivedDepthMax

    private static let annotations: Set<String> = [
        "$schema", "$id", "$comment", "title", "description", "default", "examples", "deprecated",
    ]
    private static let keywords = [
        "type", "properties", "required", "additionalProperties", "items", "enum", "const",
        "minimum", "maximum", "minLength", "maxLength", "minItems", "maxItems", "format",
    ]

    /// Reads a schema. Throws all faults in it; an unknown keyword is a fault, too.
    ///
    /// - Parameter isStored: true for a record: then repeated names are no fault, because older
    ///   relays accepted them.
    package init(
        reading view: JSONView, at pointer: String, isStored: Bool = false
    ) throws(FieldErrors) {
        var faults: [FieldError] = []
        self.init(view, pointer, 0, &faults)
        if isStored { faults.removeAll { $0.message == Self.repeats } }
        if !faults.isEmpty { throw FieldErrors(faults) }
    }

    private init(
        _ view: JSONView, _ pointer: String, _ depth: Int, _ faults: inout [FieldError]
    ) {
        guard view.kind == .object, depth < Self.depthMax else {
            faults.append(FieldError(pointer: pointer, message: "must be a schema (an object)"))
            return
        }
        for (keyword, rule) in view.members where !Self.annotations.contains(keyword) {
            guard faults.count < Self.faultsMax else { return }
            let place = ValuePath(pointer).pointer(keyword)
            guard let message = read(keyword, rule, place, depth, &faults) else { continue }
            faults.append(FieldError(pointer: place, message: message))
        }
        fallback = view["default"]?.json
        finish()
    }

    /// Maximum numbers of an object's members and of an `enum`'s values. A state of 4 KB cannot
    /// have more.
    private static let membersMax = 1_000
    private static let valuesMax = 256

    /// What people can write instead of an unsupported keyword.
    private static let cures: [String: String] = {
        let inline = "write the schema out where it is used"
        let describe =
            "describe the members that all cases have; what is not described is allowed. For a value "
            + "or null write \"type\":[\"string\",\"null\"]"
        let bound = "write \"minimum\" or \"maximum\" with the last value that is allowed"
        var cures = [
            "pattern":
                "a Swift String takes any text; leave it out, or list the texts with \"enum\"",
            "multipleOf": "for whole numbers write \"type\":\"integer\"",
            "nullable": "write \"type\":[\"string\",\"null\"]",
            "prefixItems": "describe all elements with one schema in \"items\"",
            "uniqueItems": "a Swift Array takes any elements; leave it out",
        ]
        for name in ["$ref", "$dynamicRef", "$defs", "definitions"] { cures[name] = inline }
        for name in ["anyOf", "oneOf", "allOf", "not", "if", "then", "else"] {
            cures[name] = describe
        }
        for name in ["exclusiveMinimum", "exclusiveMaximum"] { cures[name] = bound }
        return cures
    }()

    private static let repeats = "must name nothing twice"

    /// Reads one keyword. Returns what is wrong with it; nil if nothing is.
    private mutating func read(
        _ keyword: String, _ rule: JSONView, _ place: String, _ depth: Int,
        _ faults: inout [FieldError]
    ) -> String? {
        switch keyword {
        case "type": return readKinds(rule)
        case "properties":
            guard rule.kind == .object, rule.count <= Self.membersMax else {
                return "must be an object of at most \(Self.membersMax) schemas"
            }
            for (name, schema) in rule.members {
                guard faults.count < Self.faultsMax else { break }
                let inner = StateSchema(
                    schema, ValuePath(place).pointer(name), depth.advanced(by: 1), &faults)
                properties.append(Property(name: name, schema: inner))
            }
        case "required":
            guard let names = rule.strings(atMost: Self.membersMax) else {
                return "must list at most \(Self.membersMax) names"
            }
            let seen = Set(names)
            required = seen.count == names.count ? names : seen.sorted()
            if seen.count < names.count { return Self.repeats }
        case "additionalProperties":
            guard let allows = rule.bool else { return "must be true or false" }
            allowsOthers = allows
        case "items": items = [StateSchema(rule, place, depth.advanced(by: 1), &faults)]
        case "enum":
            guard rule.kind == .array, (1...Self.valuesMax).contains(rule.count) else {
                return "must list 1 to \(Self.valuesMax) values"
            }
            let allowed = AllowedValues(rule.elements.map(\.json))
            values = allowed
            if !allowed.areDistinct { return Self.repeats }
        case "const": values = AllowedValues([rule.json])
        case "format": return readFormat(rule)
        default: return readBound(keyword, rule, suggests: faults.count < suggestionsMax)
        }
        return nil
    }

    private mutating func readKinds(_ rule: JSONView) -> String? {
        let names =
            rule.string.map { [$0] } ?? rule.strings(atMost: Kind.allCases.count) ?? []
        kinds = names.compactMap(Kind.init(rawValue:))
        guard kinds.count == names.count, !kinds.isEmpty else {
            return "must be of " + Kind.allCases.map(\.rawValue).joined(separator: ", ")
        }
        return nil
    }

    /// Reads `format`. Formats that no Swift type checks are ignored.
    private mutating func readFormat(_ rule: JSONView) -> String? {
        guard let name = rule.string else { return "must be a string" }
        isDate = name == "date-time"
        isUUID = name == "uuid"
        return nil
    }

    private mutating func readBound(
        _ keyword: String, _ rule: JSONView, suggests: Bool
    ) -> String? {
        guard Self.keywords.contains(keyword) else {
            let nearest =
                suggests ? nearestName(to: keyword, among: Self.keywords) : nil
            return "is not in the part of JSON Schema that is read here"
                + (Self.cures[keyword].map { ": \($0)" }
                    ?? nearest.map { "; did you mean \"\($0)\"?" }
                    ?? ": \(Self.keywords.joined(separator: ", "))")
        }
        guard let value = rule.double else { return "must be a number" }
        switch keyword {
        case "minimum": number.least = value
        case "maximum": number.most = value
        case "minLength": length.least = value
        case "maxLength": length.most = value
        case "minItems": count.least = value
        default: count.most = value
        }
        return nil
    }
}
