import TomboloJSON

/// The schema of a type's content state: the part of JSON Schema (2020-12) that a Swift type can
/// express. If a type has another keyword, its registration is refused.
package struct StateSchema: Hashable, Sendable {
    /// A type of JSON values by its name in schemas. `integer` is a number without a fraction.
    enum Kind: String, Hashable, Sendable, CaseIterable {
        case object, array, string, number, integer, boolean, null
    }

    /// A minimum and a maximum, both allowed; nil: no limit.
    struct Bounds: Hashable, Sendable {
        var least: Double?
        var most: Double?
    }

    /// Empty: any type.
    var kinds: [Kind] = []
    var properties: [Property] = []
    var required: [String] = []
    /// False if `additionalProperties` forbids members that are not in `properties`.
    var allowsOthers = true
    /// The schema of each element: none or one. (An array, because a struct cannot contain itself.)
    var items: [StateSchema] = []
    /// The values of `enum` or `const`; nil: any value.
    var values: AllowedValues?
    var number = Bounds()
    var length = Bounds()
    var count = Bounds()
    /// True for a time as in RFC 3339. The payload has it in the encoding that the type declares.
    var isDate = false
    /// True for a text that Swift's `UUID` decodes: 32 hexadecimal digits in five groups.
    var isUUID = false

    /// The value of `default`: what the app's type has where the member was not sent.
    var fallback: JSON?

    struct Property: Hashable, Sendable {
        var name: String
        var schema: StateSchema
    }

    subscript(_ name: String) -> StateSchema? {
        places[name].map { properties[$0].schema }
    }

    /// Indices in `properties` and `required` by name, so that the check of a state costs as much
    /// as the state is long, however long these lists are.
    private var places: [String: Int] = [:]
    private var requiredPlaces: [String: Int] = [:]

    /// True if a schema in it names members: only then can a state have unknown ones.
    private(set) var namesMembers = false

    /// True if a date is anywhere in it: only then the payload differs from the state. Stored,
    /// because each value of a state needs it.
    private(set) var hasDates = false

    /// Computes the stored values above. Call it when all other members are set.
    mutating func finish() {
        for (place, property) in properties.enumerated() { places[property.name] = place }
        for (place, name) in required.enumerated() { requiredPlaces[name] = place }
        namesMembers = !properties.isEmpty || items.contains(where: \.namesMembers)
        hasDates =
            isDate || properties.contains(where: \.schema.hasDates)
            || items.contains(where: \.hasDates)
    }

    /// The schema of the place to which a pointer points; nil if the schema does not have the
    /// place.
    func at(_ pointer: JSONPointer) -> StateSchema? {
        var schema = self
        for token in pointer.tokens {
            guard let next = schema[token] ?? schema.items.first else { return nil }
            schema = next
        }
        return schema
    }

    /// Maximum number of parts of a pointer. No body is nested deeper (`JSONLimits`).
    static let pointerPartsMax = 32

    /// What is wrong with a pointer in a type; nil if nothing is. A misspelt pointer would silently
    /// have no effect.
    ///
    /// - Parameter schema: the schema of the state; nil: any place is right.
    static func fault(ofPointer text: String?, _ schema: StateSchema?) -> String? {
        guard let pointer = text.flatMap(JSONPointer.init), !pointer.tokens.isEmpty else {
            return "must be a JSON Pointer such as \"/score\""
        }
        guard pointer.tokens.count <= pointerPartsMax else {
            return "has more than \(pointerPartsMax) parts: no state is so deep"
        }
        guard let schema, schema.at(pointer) == nil else { return nil }
        return "is not described by the schema in \"state\""
    }
}

extension StateSchema {
    /// Maximum number of faults that are reported of one value.
    static let faultsMax = 20

    /// The faults of a value; empty if it is valid.
    func faults(in value: JSONView, at pointer: String) -> [FieldError] {
        var check = Check(path: ValuePath(pointer))
        collect(value, &check)
        return check.faults
    }

    /// What is collected while a value is checked.
    private struct Check {
        /// The place that is being checked.
        var path: ValuePath
        private(set) var faults: [FieldError] = []

        var isFull: Bool { faults.count >= StateSchema.faultsMax }

        /// - Parameter name: a member of this place; nil: the place itself.
        mutating func fail(_ message: String, _ name: String? = nil) {
            faults.append(FieldError(pointer: path.pointer(name), message: message))
        }
    }

    private func collect(_ value: JSONView, _ check: inout Check) {
        guard !check.isFull else { return }
        if !kinds.isEmpty, !kinds.contains(where: { $0.isKind(of: value) }) {
            let names = kinds.map(\.rawValue).joined(separator: " or ")
            let what = value.kind == .number && !value.isDouble ? " of its size" : ""
            return check.fail("must be \(names), not \(value.kind.rawValue)\(what)")
        }
        if let values, !values.contains(value) {
            let names = values.list.prefix(8).map(\.description).joined(separator: ", ")
            check.fail("must be one of \(names)")
        }
        switch value.kind {
        case .object: collectMembers(of: value, &check)
        case .array: collectElements(of: value, &check)
        case .number:
            guard number != Bounds() else { return }
            if let number = value.double, let message = self.number.objection(to: number, "") {
                check.fail(message)
            }
        case .string:
            guard isDate || isUUID || length != Bounds() else { return }
            let text = value.string ?? ""
            if isDate, Instant(rfc3339: text) == nil {
                check.fail(Instant.fault(ofRFC3339: text))
            }
            if isUUID, !Self.isUUID(text) {
                check.fail("must be a UUID such as \"8c5f5c1e-0000-4000-8000-0123456789ab\"")
            }
            let count = Double(text.unicodeScalars.count)
            if let message = length.objection(to: count, " characters") { check.fail(message) }
        case .bool, .null: break
        }
    }

    static func isUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.utf8.allSatisfy { Character(.init($0)).isHexDigit } }
    }

    private func collectMembers(of value: JSONView, _ check: inout Check) {
        for name in missing(in: value) {
            guard !check.isFull else { return }
            check.fail("is missing: the app's type does not decode without it", name)
        }
        guard !properties.isEmpty || !allowsOthers else { return }
        for (name, member) in value.members {
            guard !check.isFull else { return }
            if let place = places[name] {
                check.path.enter(.name(name))
                properties[place].schema.collect(member, &check)
                check.path.leave()
            } else if !allowsOthers {
                let nearest =
                    check.faults.count < suggestionsMax
                    ? nearestName(to: name, among: properties.lazy.map(\.name)) : nil
                check.fail(
                    "is not a member of the type"
                        + didYouMean(nearest), name)
            }
        }
    }

    /// Names of the required members that an object does not have, in the schema's order.
    private func missing(in value: JSONView) -> [String] {
        guard !required.isEmpty else { return [] }
        var isThere = [Bool](repeating: false, count: required.count)
        var count = 0
        for (name, _) in value.members {
            guard let place = requiredPlaces[name], !isThere[place] else { continue }
            isThere[place] = true
            count += 1
        }
        guard count < required.count else { return [] }
        return zip(required, isThere).filter { !$0.1 }.map(\.0)
    }

    private func collectElements(of value: JSONView, _ check: inout Check) {
        if let message = count.objection(to: Double(value.count), " elements") {
            check.fail(message)
        }
        guard let schema = items.first else { return }
        for (index, element) in value.elements.enumerated() {
            guard !check.isFull else { return }
            check.path.enter(.index(index))
            schema.collect(element, &check)
            check.path.leave()
        }
    }
}

extension StateSchema.Kind {
    func isKind(of value: JSONView) -> Bool {
        switch self {
        case .object: value.kind == .object
        case .array: value.kind == .array
        case .string: value.kind == .string
        case .number: value.isDouble
        case .integer: value.integer != nil
        case .boolean: value.kind == .bool
        case .null: value.isNull
        }
    }
}

extension StateSchema.Bounds {
    func objection(to value: Double, _ unit: String) -> String? {
        if let least, value < least { return "must be at least \(Self.text(least))\(unit)" }
        if let most, value > most { return "must be at most \(Self.text(most))\(unit)" }
        return nil
    }

    private static func text(_ value: Double) -> String {
        Int64(exactly: value).map { "\($0)" } ?? "\(value)"
    }
}
