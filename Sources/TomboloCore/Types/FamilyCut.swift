package import TomboloJSON

/// What of a state the widgets of one family get: pointers into it, and for a list how many of its
/// elements. It decides what they get, and `preview` how that is drawn.
///
///     let cut = FamilyCut([.init(path: JSONPointer(tokens: ["door", "name"]))])
///     cut.applied(to: state)  // {"door":{"name":"Main door"}}
package struct FamilyCut: Hashable, Sendable {
    /// One place of the state.
    package struct Part: Hashable, Sendable {
        package var path: JSONPointer
        /// The first so many elements of a list; nil: the whole value.
        package var length: Int?

        /// `length` nil: the whole value.
        package init(path: JSONPointer, length: Int? = nil) {
            (self.path, self.length) = (path, length)
        }
    }

    /// A member of the state and what is taken of it.
    private struct Branch: Hashable, Sendable {
        /// How many elements; `Int.max`: the whole value; nil: what its branches name.
        var length: Int?
        var branches: [Name: Branch] = [:]

        /// - Parameter path: at most `StateSchema.pointerPartsMax` parts.
        mutating func add(_ path: ArraySlice<String>, _ length: Int) {
            if let token = path.first {
                branches[Name(text: token), default: Branch()].add(path.dropFirst(), length)
            } else {
                self.length = max(self.length ?? 0, length)
            }
        }
    }

    /// A member's name. Names of JSON are equal where their bytes are; those of Swift's strings are
    /// also where Unicode calls them equivalent.
    private struct Name: Hashable, Sendable {
        let text: String

        static func == (one: Name, other: Name) -> Bool { isSameText(one.text, other.text) }

        func hash(into hasher: inout Hasher) {
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }

    private var root = Branch()

    /// A family has at most so many pointers.
    static let partsMax = 64
    /// A widget shows few lines. A history has at most so many.
    static let lengthMax: Int64 = 256

    /// Nothing: each state becomes an object without members.
    static let nothing = FamilyCut([])

    /// A place that is named twice is there once, with the larger length.
    package init(_ parts: [Part]) {
        for part in parts { root.add(part.path.tokens[...], part.length ?? .max) }
    }

    /// An object of the state's shape that has what the cut names. What the state lacks is not
    /// there, and neither is a place inside a list.
    package func applied(to state: JSON) -> JSON {
        var writer = JSONWriter(capacity: min(state.bytes.count, 1_024))
        Self.write(state.document.root, root, to: &writer)
        return writer.json
    }

    private static func write(_ view: JSONView, _ branch: Branch, to writer: inout JSONWriter) {
        writer.beginObject()
        for (name, value) in view.members {
            guard let next = branch.branches[Name(text: name)] else { continue }
            if let length = next.length {
                writer.name(name)
                write(value, first: length, to: &writer)
            } else if value.kind == .object {
                writer.name(name)
                write(value, next, to: &writer)
            }
        }
        writer.endObject()
    }

    private static func write(_ value: JSONView, first length: Int, to writer: inout JSONWriter) {
        guard value.kind == .array, value.count > length else { return writer.raw(value.json) }
        writer.beginArray()
        for element in value.elements.prefix(length) { writer.raw(element.json) }
        writer.endArray()
    }
}

/// The cuts of a type's states. What no cut names no widget gets.
package struct FamilyCuts: Hashable, Sendable {
    private var parts: [WidgetFamily: [FamilyCut.Part]] = [:]
    private var cuts: [WidgetFamily: FamilyCut] = [:]
    /// What any family gets.
    package private(set) var union = FamilyCut.nothing

    /// - Parameter parts: at least one family, each with at least one part.
    package init(_ parts: [WidgetFamily: [FamilyCut.Part]]) {
        self.parts = parts
        cuts = parts.mapValues { FamilyCut($0) }
        union = FamilyCut(parts.values.flatMap(\.self))
    }

    /// In WidgetKit's order.
    package var families: [WidgetFamily] { WidgetFamily.allCases.filter { cuts[$0] != nil } }

    /// Of a family; nil where the type has none for it.
    package subscript(_ family: WidgetFamily) -> FamilyCut? { cuts[family] }

    /// Whether some family gets something else of one state than of another.
    func differ(_ one: JSON, _ other: JSON) -> Bool {
        one != other
            && cuts.values.contains {
                !$0.applied(to: one).isSameValue(as: $0.applied(to: other))
            }
    }

    /// Whether some family has more than one place to tap.
    var haveLinks: Bool { cuts.keys.contains(where: \.hasLinks) }
}
