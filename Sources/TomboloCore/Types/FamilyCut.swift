package import TomboloJSON

/// The parts of a state that the widgets of one family get: pointers into it and, for lists, the
/// number of elements. It defines what they get, and `preview` how that is drawn.
///
///     let cut = FamilyCut([.init(path: JSONPointer(tokens: ["door", "name"]))])
///     cut.applied(to: state)  // {"door":{"name":"Main door"}}
package struct FamilyCut: Hashable, Sendable {
    /// One part of the state.
    package struct Part: Hashable, Sendable {
        package var path: JSONPointer
        /// The number of first elements of a list; nil means the whole value.
        package var length: Int?

        /// - Parameter length: nil means the whole value.
        package init(path: JSONPointer, length: Int? = nil) {
            (self.path, self.length) = (path, length)
        }
    }

    /// A member of the state and what the cut takes of it.
    private struct Branch: Hashable, Sendable {
        /// The number of elements; `Int.max` means the whole value, nil what the branches name.
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

    /// A member's name. JSON's names are equal if their bytes are; Swift's strings are also equal
    /// if Unicode calls them equivalent.
    private struct Name: Hashable, Sendable {
        let text: String

        static func == (one: Name, other: Name) -> Bool { isSameText(one.text, other.text) }

        func hash(into hasher: inout Hasher) {
            for byte in text.utf8 { hasher.combine(byte) }
        }
    }

    private var root = Branch()

    /// Pointers of a family, at most.
    static let partsMax = 64
    /// The most lines of a history; a widget shows only a few.
    static let lengthMax: Int64 = 256

    /// Cuts everything: each state becomes an object without members.
    static let nothing = FamilyCut([])

    /// A part that is named twice is kept once, with the larger length.
    package init(_ parts: [Part]) {
        for part in parts { root.add(part.path.tokens[...], part.length ?? .max) }
    }

    /// An object of the state's shape with the parts in the cut. Parts that the state lacks are
    /// left out, and so are places inside a list.
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

/// The cuts of a type's states. No widget gets a part that no cut names.
package struct FamilyCuts: Hashable, Sendable {
    private var parts: [WidgetFamily: [FamilyCut.Part]] = [:]
    private var cuts: [WidgetFamily: FamilyCut] = [:]
    /// The parts that any family gets.
    package private(set) var union = FamilyCut.nothing

    /// - Parameter parts: at least one family, each with at least one part.
    package init(_ parts: [WidgetFamily: [FamilyCut.Part]]) {
        self.parts = parts
        cuts = parts.mapValues { FamilyCut($0) }
        union = FamilyCut(parts.values.flatMap(\.self))
    }

    /// In WidgetKit's order.
    package var families: [WidgetFamily] { WidgetFamily.allCases.filter { cuts[$0] != nil } }

    /// The cut of a family; nil if the type has none.
    package subscript(_ family: WidgetFamily) -> FamilyCut? { cuts[family] }

    /// Whether some family gets different parts of two states.
    func differ(_ one: JSON, _ other: JSON) -> Bool {
        one != other
            && cuts.values.contains {
                !$0.applied(to: one).isSameValue(as: $0.applied(to: other))
            }
    }

    /// Whether some family has more than one tappable place.
    var haveLinks: Bool { cuts.keys.contains(where: \.hasLinks) }
}
