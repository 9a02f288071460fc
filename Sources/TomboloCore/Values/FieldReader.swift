package import TomboloJSON

/// Reads an object's fields one by one, and collects all faults instead of stopping at the first.
///
/// Each read names its field; at the end `finish` refuses the fields that were not read, with a
/// suggestion.
package struct FieldReader {
    private let view: JSONView
    private let pointer: String
    /// Whether the object is a row of the log.
    let isOfLog: Bool
    private var known: [String] = []
    /// How many of the known names are present.
    private var found = 0
    package private(set) var errors: [FieldError] = []

    /// Faults of one reading, at most: nobody reads a thousand of them.
    package static let errorsMax = 20

    /// - Parameters:
    ///   - pointer: where `view` is in the whole body.
    ///   - isOfLog: whether the object is a row of the log. Older relays took `null` for an absent
    ///     member, and took alerts without text.
    package init(_ view: JSONView, pointer: String = "", isOfLog: Bool = false) {
        self.view = view
        self.pointer = pointer
        self.isOfLog = isOfLog
        known.reserveCapacity(12)
        if view.kind != .object {
            errors.append(FieldError(pointer: pointer, message: "must be a JSON object"))
        }
    }

    /// A reader of an object inside this one.
    package func inside(_ view: JSONView, _ name: String) -> FieldReader {
        FieldReader(view, pointer: path(name), isOfLog: isOfLog)
    }

    /// Notes a fault of a field. If a member is `null` and has a further fault, it is required:
    /// both become one fault, which does not advise leaving it out.
    package mutating func fail(_ name: String, _ message: String) {
        let pointer = path(name)
        if let place = errors.firstIndex(where: {
            $0.pointer == pointer && $0.message == Self.nullMessage
        }) {
            let isMissing = message.hasPrefix(Self.missing)
            errors[place].message =
                "must not be null"
                + (isMissing ? message.dropFirst(Self.missing.count) : ": \(message)")
            return
        }
        guard errors.count < Self.errorsMax else { return }
        errors.append(FieldError(pointer: pointer, message: message))
    }

    private static let missing = "is missing"

    /// Notes a required member that is absent or `null`.
    ///
    /// - Parameter meaning: the text after "is missing", such as ": the activity's id".
    package mutating func require(_ name: String, _ meaning: String) {
        if view[name]?.isNull ?? true { fail(name, Self.missing + meaning) }
    }

    private static let nullMessage = "must not be null; leave it out instead"

    /// Whether a member is `null`, for members where that has a meaning. Marks the name as known.
    package mutating func isNull(_ name: String) -> Bool {
        let value = view[name]
        note(name, isThere: value != nil)
        return value?.isNull == true
    }

    /// Adds the faults of a reader of an inner object, up to `errorsMax`.
    package mutating func adopt(_ faults: FieldErrors) {
        errors += faults.errors.prefix(Self.errorsMax - errors.count)
    }

    /// The JSON Pointer to a field.
    package func path(_ name: String) -> String {
        pointer + JSONPointer(tokens: [name]).description
    }

    /// The member, if it is present. Marks the name as known.
    ///
    /// `null` is a fault: it could only be guessed what a filter or an option means by it, and a
    /// wrong guess may affect everything instead of a little.
    package mutating func value(_ name: String) -> JSONView? {
        let value = view[name]
        let isNew = note(name, isThere: value != nil)
        guard let value else { return nil }
        guard value.isNull else { return value }
        if isNew, !isOfLog { fail(name, Self.nullMessage) }
        return nil
    }

    /// Returns whether the name was not known before.
    @discardableResult
    private mutating func note(_ name: String, isThere: Bool) -> Bool {
        guard !known.contains(name) else { return false }
        known.append(name)
        if isThere { found += 1 }
        return true
    }

    /// Marks fields that another reader reads as known.
    package mutating func ignore(_ names: String...) {
        for name in names { note(name, isThere: view[name] != nil) }
    }

    /// This and the following methods return nil if the field is absent or faulty; a fault is
    /// noted.
    package mutating func string(_ name: String) -> String? {
        guard let value = value(name) else { return nil }
        if let string = value.string { return string }
        fail(name, "must be a string")
        return nil
    }

    /// Reads `true` or `false`.
    package mutating func bool(_ name: String) -> Bool? {
        guard let value = value(name) else { return nil }
        if let bool = value.bool { return bool }
        fail(name, "must be true or false")
        return nil
    }

    /// Reads any finite number.
    package mutating func double(_ name: String) -> Double? {
        guard let value = value(name) else { return nil }
        if let double = value.double { return double }
        fail(name, "must be a number")
        return nil
    }

    /// Reads a number within `range`.
    package mutating func double(_ name: String, in range: ClosedRange<Double>) -> Double? {
        guard let value = value(name) else { return nil }
        if let double = value.double, range.contains(double) { return double }
        fail(name, "must be a number from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    /// Reads a whole number within `range`.
    package mutating func integer(_ name: String, in range: ClosedRange<Int64>) -> Int64? {
        guard let value = value(name) else { return nil }
        if let integer = value.integer, range.contains(integer) { return integer }
        fail(name, "must be a whole number from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    /// Reads a JSON object, for a reader of its own.
    package mutating func object(_ name: String) -> JSONView? {
        guard let value = value(name) else { return nil }
        if value.kind == .object { return value }
        fail(name, "must be a JSON object")
        return nil
    }

    /// Reads an id.
    package mutating func identifier(_ name: String) -> Identifier? {
        guard let text = string(name) else { return nil }
        if let identifier = Identifier(text) { return identifier }
        fail(name, "must be 1 to 128 letters, digits or . _ : @ -")
        return nil
    }

    /// Reads a duration within `range`.
    package mutating func span(_ name: String, in range: ClosedRange<Span>) -> Span? {
        guard let value = value(name) else { return nil }
        if let text = value.string, let span = Span(text: text, atMost: range.upperBound),
            range.contains(span)
        {
            return span
        }
        fail(
            name,
            "must be a duration such as \"90s\" or \"10m\", from \(range.lowerBound.text) "
                + "to \(range.upperBound.text)")
        return nil
    }

    /// Reads a time of RFC 3339.
    package mutating func instant(_ name: String) -> Instant? {
        guard let value = value(name) else { return nil }
        if let instant = value.string.flatMap(Instant.init(rfc3339:)) { return instant }
        fail(name, Instant.fault(ofRFC3339: value.string))
        return nil
    }

    /// Reads one of a few words.
    package mutating func choice<Choice>(_ name: String, _ choices: [(String, Choice)]) -> Choice? {
        guard let value = value(name) else { return nil }
        if let match = choices.first(where: { $0.0 == value.string }) { return match.1 }
        fail(name, "must be one of " + choices.map { "\"\($0.0)\"" }.joined(separator: ", "))
        return nil
    }

    /// Ends the reading. Throws all faults found, unknown fields first: a missing field is usually
    /// present under another name.
    package mutating func finish(allowingUnknown: Bool = false) throws(FieldErrors) {
        if !allowingUnknown, found < view.count {
            var others = errors
            errors = []
            for (name, _) in view.members where !known.contains(name) {
                guard errors.count < Self.errorsMax else { break }
                let meant = errors.count < suggestionsMax ? meant(by: name) : nil
                // The member is present under the other name: its absence is no second fault.
                if let meant, view[meant] == nil { others.removeAll { $0.pointer == path(meant) } }
                fail(name, "unknown field" + advice(on: name, meant: meant))
            }
            adopt(FieldErrors(others))
        }
        if !errors.isEmpty { throw FieldErrors(errors) }
    }

    private func meant(by name: String) -> String? {
        AppleWord.meant(by: name, among: known)
            ?? (AppleWord.advice(on: name, among: known) == nil
                ? nearestName(to: name, among: known) : nil)
    }

    private func advice(on name: String, meant: String?) -> String {
        meant == nil ? AppleWord.advice(on: name, among: known) ?? "" : didYouMean(meant)
    }
}
