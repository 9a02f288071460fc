package import TomboloJSON

/// The JSON from which an app's Swift type can be decoded. It checks the same as a default
/// `JSONDecoder`: kinds of values and required members.
///
/// Like the decoder, it ignores unknown members. It checks no ranges and no dates.
package indirect enum JSONShape: Hashable, Sendable {
    /// One stored property of a struct.
    package struct Member: Hashable, Sendable {
        package var name: String
        package var shape: JSONShape
        /// False for an optional property: it may be absent or null.
        package var isRequired: Bool

        package init(_ name: String, _ shape: JSONShape, isRequired: Bool = true) {
            self.name = name
            self.shape = shape
            self.isRequired = isRequired
        }
    }

    case any
    case string
    case uuid
    case number
    /// A `Float`.
    case float
    case integer
    case bool
    /// A `Date`: seconds since 2001, the default decoder's format.
    case date
    case array(JSONShape)
    case object([Member])

    /// Why the value does not decode, with the JSON Pointer of the error; nil if it decodes.
    package func fault(in value: JSONView, at path: String = "") -> String? {
        switch self {
        case .any: nil
        case .string: value.kind == .string ? nil : expected("a string", path)
        case .uuid:
            value.string.flatMap(Self.uuid) != nil ? nil : expected("a UUID", path)
        case .number: value.isDouble ? nil : expected("a number that a Double holds", path)
        case .float:
            value.double.map { Float($0).isFinite } ?? false
                ? nil : expected("a number that a Float holds", path)
        case .integer: value.integer != nil ? nil : expected("an integer", path)
        case .bool: value.kind == .bool ? nil : expected("true or false", path)
        case .date: value.isDouble ? nil : expected("a number (a Date)", path)
        case .array(let element): arrayFault(element, value, path)
        case .object(let members): objectFault(members, value, path)
        }
    }

    /// Text about a date that decodes to an implausible year, probably because it is Unix time; nil
    /// if all dates are plausible.
    func strangeDate(in value: JSONView, at path: String = "") -> String? {
        switch self {
        case .date:
            guard let seconds = value.double, seconds > Self.dateSecondsMax else { return nil }
            return "\(path) shows the year \(2_001 + Int(min(seconds, 1e15) / 31_556_952))"
        case .object(let members):
            return members.lazy.compactMap { member in
                value[member.name].flatMap {
                    member.shape.strangeDate(in: $0, at: "\(path)/\(member.name)")
                }
            }.first
        case .array(let element):
            return value.elements.lazy.compactMap { element.strangeDate(in: $0, at: path) }.first
        case .any, .string, .uuid, .number, .float, .integer, .bool: return nil
        }
    }

    /// Seconds from 2001 to 2045. No card shows a time so far in the future.
    private static let dateSecondsMax = 1_400_000_000.0

    private func arrayFault(_ element: JSONShape, _ value: JSONView, _ path: String) -> String? {
        guard value.kind == .array else { return expected("an array", path) }
        for (index, item) in value.elements.enumerated() {
            if let fault = element.fault(in: item, at: "\(path)/\(index)") { return fault }
        }
        return nil
    }

    private func objectFault(_ members: [Member], _ value: JSONView, _ path: String) -> String? {
        guard value.kind == .object else { return expected("an object", path) }
        for member in members {
            let place = "\(path)/\(member.name)"
            guard let found = value[member.name], !(found.isNull && !member.isRequired) else {
                if member.isRequired { return "\(place) is missing" }
                continue
            }
            if let fault = member.shape.fault(in: found, at: place) { return fault }
        }
        return nil
    }

    /// The value as the app's type gives it back after it has decoded it. A value without a shape
    /// is given back as it came.
    ///
    /// - Parameter isWhole: true if the shape has all members of the type: the app then drops
    ///   others.
    func encoded(_ value: JSONView, isWhole: Bool) -> [UInt8] {
        var writer = JSONWriter()
        write(value, isWhole, to: &writer)
        return writer.bytes
    }

    private func write(_ value: JSONView, _ isWhole: Bool, to writer: inout JSONWriter) {
        switch self {
        case .uuid where value.string != nil: writer.string(Self.uuid(value.string ?? "") ?? "")
        case .float where value.isDouble: writer.raw(Self.text(Double(Float(value.double ?? 0))))
        case .number where value.isDouble: writer.raw(Self.text(value.double ?? 0))
        case .array(let element) where value.kind == .array:
            writer.array(of: value.elements) { element.write($1, isWhole, to: &$0) }
        case .object(let known) where value.kind == .object && !known.isEmpty:
            let shapes = Dictionary(known.map { ($0.name, $0.shape) }) { $1 }
            writer.beginObject()
            for (name, member) in value.members where !member.isNull {
                guard let shape = shapes[name] ?? (isWhole ? nil : .any) else { continue }
                writer.named(name) { shape.write(member, isWhole, to: &$0) }
            }
            writer.endObject()
        case .any, .string, .uuid, .number, .float, .integer, .bool, .date, .array, .object:
            writer.raw([UInt8](value.raw))
        }
    }

    private static func text(_ number: Double) -> [UInt8] {
        Array((Int64(exactly: number).map { "\($0)" } ?? "\(number)").utf8)
    }

    /// The text as Swift's `UUID` writes it; nil if it is none.
    private static func uuid(_ text: String) -> String? {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        let isOne =
            groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.utf8.allSatisfy { Character(.init($0)).isHexDigit } }
        return isOne ? text.uppercased() : nil
    }

    private func expected(_ what: String, _ path: String) -> String {
        (path.isEmpty ? "the value" : path) + " is not " + what
    }
}
