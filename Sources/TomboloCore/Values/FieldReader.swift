package import TomboloJSON

/// Reads the members of a JSON object one by one, and collects all faults instead of stopping at
/// the first. Each read names its member. At the end, `finish` refuses members that were not read,
/// and suggests a name.
package struct FieldReader {
    private let view: JSONView
    private let pointer: String
    /// True if the object comes from the log.
    let isOfLog: Bool
    private var known: [String] = []
    /// The bits of the object's names, and of the known ones (`JSONView.mark(of:)`).
    private let present: UInt64
    private var marks: UInt64 = 0
    /// Number of known names that the object has.
    private var found = 0
    package private(set) var errors: [FieldError] = []

    /// Maximum number of faults of one object.
    package static let errorsMax = 20

    /// - Parameters:
    ///   - pointer: where `view` is in the whole body.
    ///   - isOfLog: true if the object comes from the log. Older relays accepted `null` for a
    /// missing member, and alerts without text.
    package init(_ view: JSONView, pointer: String = "", isOfLog: Bool = false) {
        self.view = view
        self.pointer = pointer
        self.isOfLog = isOfLog
        present = view.marks
        known.reserveCapacity(12)
        if view.kind != .object {
            // Operations of RFC 6902 are an array.
            let first = view.kind == .array ? view.elements.first { _ in true } : nil
            let patch = ": a merge patch (RFC 7396), and not the operations of RFC 6902"
            let hint = first?["op"] == nil ? "" : patch
            errors.append(FieldError(pointer: pointer, message: "must be a JSON object" + hint))
        }
    }

    package var isObject: Bool { view.kind == .object }

    /// A reader for an object inside this one.
    package func inside(_ view: JSONView, _ name: String) -> FieldReader {
        FieldReader(view, pointer: path(name), isOfLog: isOfLog)
    }

    /// Notes a fault of a member. If a required member is `null` or has the wrong shape, it has two
    /// faults; they become one, which does not advise to leave the member out or call it missing.
    package mutating func fail(_ name: String, _ message: String) {
        let pointer = path(name)
        let isMissing = message.hasPrefix(Self.missing)
        let meaning = isMissing ? String(message.dropFirst(Self.missing.count)) : ": \(message)"
        if let place = errors.firstIndex(where: { $0.pointer == pointer }) {
            let isNull = errors[place].message == Self.nullMessage
            if isNull { errors[place].message = "must not be null" }
            if isNull || isMissing {
                errors[place].message += meaning
                return
            }
        }
        guard errors.count < Self.errorsMax else { return }
        let isEmpty = isMissing && view[name]?.string == ""
        errors.append(
            FieldError(pointer: pointer, message: isEmpty ? "is empty" + meaning : message))
    }

    private static let missing = "is missing"

    /// Notes a fault if a required member is missing or `null`.
    ///
    /// - Parameter meaning: the text after "is missing", such as ": the activity's id".
    package mutating func require(_ name: String, _ meaning: @autoclosure () -> String) {
        if !has(name) { fail(name, Self.missing + meaning()) }
    }

    /// True if the member is there and is not `null`, whatever else it is.
    package func has(_ name: String) -> Bool { !(lookUp(name)?.isNull ?? true) }

    /// The member; nil if it is missing. Most reads find none, and that is quick.
    private func lookUp(_ name: String) -> JSONView? {
        present & JSONView.mark(of: name) == 0 ? nil : view[name]
    }

    /// Notes a fault at the first of these members unless exactly one of them is there. One of the
    /// wrong shape is there: that is a fault of its own.
    package mutating func requireOne(of names: [String], _ message: String) {
        if names.count(where: has) != 1 { fail(names[0], message) }
    }

    private static let nullMessage = "must not be null; leave it out instead"

    /// True if a member is `null`, for members where this has a meaning. The name counts as known
    /// then.
    package mutating func isNull(_ name: String) -> Bool {
        let value = lookUp(name)
        note(name, isThere: value != nil)
        return value?.isNull == true
    }

    /// Adds the faults of another reader, up to `errorsMax` in all.
    package mutating func adopt(_ faults: FieldErrors) {
        errors += faults.errors.prefix(Self.errorsMax - errors.count)
    }

    /// JSON Pointer to a member.
    package func path(_ name: String) -> String {
        pointer + JSONPointer(tokens: [name]).description
    }

    /// The member; nil if it is missing. The name counts as known then.
    ///
    /// `null` is a fault: its meaning for a filter or an option would be a guess, and a wrong guess
    /// could affect all things instead of a few.
    package mutating func value(_ name: String) -> JSONView? {
        let value = lookUp(name)
        let isNew = note(name, isThere: value != nil)
        guard let value else { return nil }
        guard value.isNull else { return value }
        if isNew, !isOfLog { fail(name, Self.nullMessage) }
        return nil
    }

    /// Returns true if the name was not known before.
    @discardableResult
    private mutating func note(_ name: String, isThere: Bool) -> Bool {
        let mark = JSONView.mark(of: name)
        guard marks & mark == 0 || !known.contains(name) else { return false }
        marks |= mark
        known.append(name)
        if isThere { found += 1 }
        return true
    }

    /// Lets a member count as known that another reader reads.
    package mutating func ignore(_ name: String) { note(name, isThere: lookUp(name) != nil) }

    /// Reads a string. This and the following methods return nil if the member is missing or
    /// faulty, and note the fault.
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

    /// Reads a JSON object, for `inside`.
    ///
    /// - Parameter shapes: examples, for the error text.
    package mutating func object(_ name: String, like shapes: String? = nil) -> JSONView? {
        guard let value = value(name) else { return nil }
        if value.kind == .object { return value }
        fail(name, "must be a JSON object" + (shapes.map { ": \($0)" } ?? ""))
        return nil
    }

    /// Reads an identifier.
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

    /// Reads a time as in RFC 3339.
    package mutating func instant(_ name: String) -> Instant? {
        guard let value = value(name) else { return nil }
        if let instant = value.string.flatMap(Instant.init(rfc3339:)) { return instant }
        fail(name, Instant.fault(ofRFC3339: value.string))
        return nil
    }

    /// Reads one of the given words.
    package mutating func choice<Choice>(_ name: String, _ choices: [(String, Choice)]) -> Choice? {
        guard let value = value(name) else { return nil }
        if let match = choices.first(where: { $0.0 == value.string }) { return match.1 }
        fail(name, "must be one of " + choices.map { "\"\($0.0)\"" }.joined(separator: ", "))
        return nil
    }

    /// Ends the reading. Throws all faults, those of unknown members first: a missing member is
    /// usually there under a wrong name. The first name that resembles none is answered with all
    /// names that were read.
    package mutating func finish(allowingUnknown: Bool = false) throws(FieldErrors) {
        if !allowingUnknown, found < view.count {
            var (others, isListed) = (errors, false)
            errors = []
            for (name, _) in view.members where !known.contains(name) {
                guard errors.count < Self.errorsMax else { break }
                let meant = errors.count < suggestionsMax ? meant(by: name) : nil
                // The member is there under a wrong name, so its absence is not another fault.
                if let meant, view[meant] == nil { others.removeAll { $0.pointer == path(meant) } }
                let advice = meant.map(didYouMean) ?? AppleWord.advice(on: name, among: known)
                let list = isListed ? nil : "; there are \(known.joined(separator: ", "))"
                isListed = isListed || advice == nil
                fail(name, Self.unknown + (advice ?? list ?? ""))
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

    /// How the message on an unknown member begins.
    package static let unknown = "unknown field"
}
