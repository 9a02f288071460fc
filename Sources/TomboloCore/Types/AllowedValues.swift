import TomboloJSON

/// The values of `enum` or `const`, which are compared by value: strings without their escapes,
/// numbers as numbers, arrays in order, objects in any order.
struct AllowedValues: Hashable, Sendable {
    let list: [JSON]
    /// The texts in the schema, for a fast path: most states contain the same text.
    private let spellings: Set<ArraySlice<UInt8>>
    /// Canonical texts of the values, by hash.
    private let canonical: [UInt64: [[UInt8]]]

    init(_ list: [JSON]) {
        self.list = list
        spellings = Set(list.map { $0.bytes[...] })
        canonical = Dictionary(grouping: list, by: \.valueHash)
            .mapValues { $0.map(\.document.root.canonical) }
    }

    /// True if all values are different.
    var areDistinct: Bool { Set(canonical.values.joined()).count == list.count }

    func contains(_ value: JSONView) -> Bool {
        if spellings.contains(value.raw) { return true }
        guard let same = canonical[value.valueHash] else { return false }
        return same.contains(value.canonical)
    }
}
