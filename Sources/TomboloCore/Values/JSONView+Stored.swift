import TomboloJSON

// Numbers in records and heads, read within ranges in which sums of a few of them do not overflow:
// a row may be damaged, or from another program.

extension JSONView {
    /// A count, a version or a number: 0 to 2^53.
    var storedCount: Int64? {
        integer.flatMap { (0...StoredValueError.countMax).contains($0) ? $0 : nil }
    }

    /// Like `storedCount`, or its negative: channels have negative numbers among devices.
    var storedNumber: Int64? {
        integer.flatMap { $0.magnitude <= StoredValueError.countMax.magnitude ? $0 : nil }
    }

    /// Like `storedCount`, or -1: one less than the first version.
    var storedCountOrNone: Int64? { integer == -1 ? -1 : storedCount }

    /// A moment between 1970 and 2200.
    var storedInstant: Instant? {
        integer.map(Instant.init(nanoseconds:)).flatMap {
            Self.storedInstants.contains($0) ? $0 : nil
        }
    }

    static let storedInstants = Instant(seconds: 0)..<Instant(seconds: 7_258_118_400)

    /// A length of time, up to a hundred years.
    var storedSpan: Span? {
        integer.flatMap { value in
            let span = Span(nanoseconds: value)
            return value >= 0 && span < .hours(876_600) ? span : nil
        }
    }

    var storedObject: JSON? { kind == .object ? json : nil }

    /// The counts of an array; empty if there is no array.
    func storedCounts(_ name: String) throws(StoredValueError) -> [Int64] {
        guard let list = self[name] else { return [] }
        let counts = list.elements.compactMap(\.storedCountOrNone)
        guard counts.count == list.count else { throw StoredValueError(member: name) }
        return counts
    }

    /// The content of a row: one JSON object. Throws if it is none.
    static func stored(_ bytes: [UInt8]) throws(StoredValueError) -> JSONView {
        // The parse error is of no use, because no relay wrote the row.
        guard let root = (try? JSONDocument(bytes, limits: depth))?.root, root.kind == .object
        else { throw StoredValueError(member: nil) }
        return root
    }

    /// An object is some levels deeper in a row than in its request.
    private static let depth = JSONLimits(depthMax: 64)

    /// A member's value, read by one of the above; `absent` if there is none. Throws if the value
    /// is out of range.
    func stored<Value>(
        _ name: String, or absent: Value, _ read: (JSONView) -> Value?
    ) throws(StoredValueError) -> Value {
        guard let member = self[name] else { return absent }
        guard let value = read(member) else { throw StoredValueError(member: name) }
        return value
    }

    /// The same for a required member.
    func stored<Value>(
        _ name: String, _ read: (JSONView) -> Value?
    ) throws(StoredValueError) -> Value {
        guard let value = self[name].flatMap(read) else { throw StoredValueError(member: name) }
        return value
    }
}

/// A member of a stored row is missing, or its value is none that a relay writes.
struct StoredValueError: Error, Hashable, Sendable {
    /// The greatest count, version or number.
    static let countMax = Int64(1) << 53

    /// Nil if the row as a whole is wrong.
    let member: String?

    var reason: String {
        member.map { "its \"\($0)\" is missing or out of range" } ?? "it is not a JSON object"
    }
}
