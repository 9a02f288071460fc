/// Header fields in the order in which they stand on the wire; names in lower case.
package struct HTTPFields: Hashable, Sendable, Sequence, ExpressibleByDictionaryLiteral {
    package struct Element: Hashable, Sendable {
        package var name: String
        package var value: String
        package init(name: String, value: String) {
            self.name = name
            self.value = value
        }
    }

    private var elements: [Element] = []

    package init() {}

    package init(dictionaryLiteral pairs: (String, String)...) {
        elements = pairs.map { Element(name: $0.lowercased(), value: $1) }
    }

    /// The first value of the field, or nil.
    package subscript(name: String) -> String? { elements.first { $0.name == name }?.value }

    package func values(_ name: String) -> [String] {
        elements.compactMap { $0.name == name ? $0.value : nil }
    }

    package mutating func append(_ name: String, _ value: String) {
        elements.append(Element(name: name, value: value))
    }

    package mutating func set(_ name: String, _ value: String) {
        elements.removeAll { $0.name == name }
        append(name, value)
    }

    package var count: Int { elements.count }

    package func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }
}
