package import TomboloJSON

/// The parts of a state that widgets of one family get: JSON Pointers and, for lists, how many
/// elements. `preview` defines how they are drawn.
///
///     let cut = FamilyCut([.init(path: JSONPointer(tokens: ["door", "name"]))])
///     cut.applied(to: state)  // {"door":{"name":"Main door"}}
package struct FamilyCut: Hashable, Sendable {
    /// One part of a state.
    package struct Part: Hashable, Sendable {
        package var path: JSONPointer
        /// How many elements of a list the family gets; nil: the whole value.
        package var length: Int?
    }

    /// A member of the state, and what the cut keeps of it.
    private struct Branch: Hashable, Sendable {
        /// Number of elements; `Int.max`: the whole value; nil: only what `branches` name.
        var length: Int?
        var branches: [Name: Branch] = [:]

        /// - Parameter path: has at most `StateSchema.pointerPartsMax` parts.
        mutating func add(_ path: ArraySlice<String>, _ length: Int) {
            if let token = path.first {
                branches[Name(text: token), default: Branch()].add(path.dropFirst(), length)
            } else {
                self.length = max(self.length ?? 0, length)
            }
        }
    }

    /// A member's name. In JSON, names are equal if their bytes are. Swift's strings are also equal
    /// if they are equivalent in Unicode.
    private struct Name: Hashable, Sendable {
        let text: String

        static func == (one: Name, other: Name) -> Bool { isSameText(one.text, other.text) }

        func hash(into hasher: inout Hasher) {
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }

    private var root = Branch()

    /// Maximum number of pointers of a family.
    static let partsMax = 64
    /// Maximum number of elements of a list; a widget shows only a few.
    static let lengthMax: Int64 = 256

    /// Keeps nothing: each state becomes an empty object.
    static let nothing = FamilyCut([])

    /// If a part is named twice, the larger length counts.
    package init(_ parts: [Part]) {
        for part in parts { root.add(part.path.tokens[...], part.length ?? .max) }
    }

    /// The state with only the parts in the cut. Parts that the state does not have, and parts
    /// inside a list's elements, are left out.
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
                writer.named(name) { write(value, first: length, to: &$0) }
            } else if value.kind == .object {
                writer.named(name) { write(value, next, to: &$0) }
            }
        }
        writer.endObject()
    }

    private static func write(_ value: JSONView, first length: Int, to writer: inout JSONWriter) {
        guard value.kind == .array, value.count > length else { return writer.raw(value.json) }
        writer.array(of: value.elements.prefix(length)) { $0.raw($1.json) }
    }
}

/// The cuts of a type for all families. No widget gets a part that is in no cut.
package struct FamilyCuts: Hashable, Sendable {
    private var parts: [WidgetFamily: [FamilyCut.Part]] = [:]
    private var cuts: [WidgetFamily: FamilyCut] = [:]
    /// The parts that at least one family gets.
    package private(set) var union = FamilyCut.nothing

    /// - Parameter parts: at least one family, each with at least one part.
    package init(_ parts: [WidgetFamily: [FamilyCut.Part]]) {
        self.parts = parts
        cuts = parts.mapValues { FamilyCut($0) }
        union = FamilyCut(parts.values.flatMap(\.self))
    }

    /// The families that have a cut, in WidgetKit's order.
    package var families: [WidgetFamily] { WidgetFamily.allCases.filter { cuts[$0] != nil } }

    /// The cut of a family; nil if the type defines none for it.
    package subscript(_ family: WidgetFamily) -> FamilyCut? { cuts[family] }

    /// True if a family gets different parts of these two states.
    func differ(_ one: JSON, _ other: JSON) -> Bool {
        one != other
            && cuts.values.contains {
                !$0.applied(to: one).isSameValue(as: $0.applied(to: other))
            }
    }

    /// True if one of the families has more than one place to tap.
    var haveLinks: Bool { cuts.keys.contains(where: \.hasLinks) }
}
