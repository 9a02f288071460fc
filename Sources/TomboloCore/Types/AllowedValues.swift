import TomboloJSON

/// The values of `enum` or `const`. They are compared by meaning: text after its escapes, numbers
/// by digits and exponent, arrays in order, objects in any order of their members.
struct AllowedValues: Hashable, Sendable {
    /// The values as written in the schema.
    let list: [JSON]
    /// Fast path: most states use the schema's spelling.
    private let spellings: Set<ArraySlice<UInt8>>
    /// Canonical texts by hash.
    private let canonical: [UInt64: [[UInt8]]]

    init(_ list: [JSON]) {
        self.list = list
        spellings = Set(list.map { $0.bytes[...] })
        canonical = Dictionary(grouping: list, by: \.valueHash)
            .mapValues { $0.map(\.document.root.canonical) }
    }

    /// True if no two values are the same.
    var areDistinct: Bool { Set(canonical.values.joined()).count == list.count }

    func contains(_ value: JSONView) -> Bool {
        if spellings.contains(value.raw) { return true }
        guard let same = canonical[value.valueHash] else { return false }
        return same.contains(value.canonical)
    }
}
