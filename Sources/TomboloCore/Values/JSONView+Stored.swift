import TomboloJSON

// Numbers in records and heads. A row may be damaged or come from another program, so they are read
// within ranges whose sums cannot overflow.

extension JSONView {
    /// A count, a version or a number of a row: from 0 to 2⁵³.
    var storedCount: Int64? {
        integer.flatMap { (0...StoredValueError.countMax).contains($0) ? $0 : nil }
    }

    /// Like `storedCount`, or negative: in the device table, channels have negative numbers.
    var storedNumber: Int64? {
        integer.flatMap { $0.magnitude <= StoredValueError.countMax.magnitude ? $0 : nil }
    }

    /// Like `storedCount`, or -1, which is before the first version.
    var storedCountOrNone: Int64? { integer == -1 ? -1 : storedCount }

    /// An instant from 1970 to 2200.
    var storedInstant: Instant? {
        integer.map(Instant.init(nanoseconds:)).flatMap {
            Self.storedInstants.contains($0) ? $0 : nil
        }
    }

    static let storedInstants = Instant(seconds: 0)..<Instant(seconds: 7_258_118_400)

    /// A length of time, not negative and less than a hundred years.
    var storedSpan: Span? {
        integer.flatMap { value in
            let span = Span(nanoseconds: value)
            return value >= 0 && span < .hours(876_600) ? span : nil
        }
    }

    var storedObject: JSON? { kind == .object ? json : nil }

    /// An array of counts, which may be -1; empty if there is no such member. Throws if an element
    /// is out of range.
    func storedCounts(_ name: String) throws(StoredValueError) -> [Int64] {
        guard let list = self[name] else { return [] }
        let counts = list.elements.compactMap(\.storedCountOrNone)
        guard counts.count == list.count else { throw StoredValueError(member: name) }
        return counts
    }

    /// The JSON object in a row. Throws if the bytes are not one.
    static func stored(_ bytes: [UInt8]) throws(StoredValueError) -> JSONView {
        // No relay writes such a row, so where it is wrong does not matter.
        guard let root = (try? JSONDocument(bytes, limits: depth))?.root, root.kind == .object
        else { throw StoredValueError(member: nil) }
        return root
    }

    /// Maximum depth: in a row, an object is nested deeper than in its request.
    private static let depth = JSONLimits(depthMax: 64)

    /// A member's value, read by `read`; `absent` if the member is missing. Throws if the value is
    /// out of range.
    func stored<Value>(
        _ name: String, or absent: Value, _ read: (JSONView) -> Value?
    ) throws(StoredValueError) -> Value {
        guard let member = self[name] else { return absent }
        guard let value = read(member) else { throw StoredValueError(member: name) }
        return value
    }

    /// The value of a required member. Throws also if the member is missing.
    func stored<Value>(
        _ name: String, _ read: (JSONView) -> Value?
    ) throws(StoredValueError) -> Value {
        guard let value = self[name].flatMap(read) else { throw StoredValueError(member: name) }
        return value
    }
}

/// Says that a member of a row is missing, or has a value that no relay writes.
struct StoredValueError: Error, Hashable, Sendable {
    /// Maximum of counts, versions and numbers.
    static let countMax = Int64(1) << 53

    /// The member; nil if the whole row is wrong.
    let member: String?

    var reason: String {
        member.map { "its \"\($0)\" is missing or out of range" } ?? "it is not a JSON object"
    }
}
