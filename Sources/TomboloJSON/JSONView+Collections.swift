extension JSONView {
    /// Number of an object's members or an array's elements; 0 for other kinds.
    package var count: Int { entry.count }

    /// How deep objects and arrays are nested: 0 for a scalar, 1 for `[]`.
    package var depth: Int {
        var ends: [Int] = []
        var deepest = 0
        for place in index..<Int(entry.next) {
            while let last = ends.last, last <= place { ends.removeLast() }
            let entry = document.tape[place]
            guard entry.kind == .object || entry.kind == .array else { continue }
            ends.append(Int(entry.next))
            deepest = max(deepest, ends.count)
        }
        return deepest
    }

    /// A bit for each member's name (`mark(of:)`): a name whose bit is missing is not there.
    package var marks: UInt64 {
        document.withSource { source in
            source.members(of: index).reduce(0) { marks, member in
                let entry = source.tape[member.name]
                // An escape may be any character.
                if entry.escapes { return .max }
                return marks
                    | Self.mark(entry.content.count, source.bytes(entry.content).first ?? 0)
            }
        }
    }

    /// The bit of names with this length and first character.
    package static func mark(of name: String) -> UInt64 {
        mark(name.utf8.count, name.utf8.first ?? 0)
    }

    private static func mark(_ count: Int, _ first: UInt8) -> UInt64 {
        1 << UInt64(truncatingIfNeeded: (count &* 5 &+ Int(first)) & 63)
    }

    /// The member with this name; nil if there is none, or if this is not an object. Names are
    /// compared by their UTF-8 bytes without escapes. The time is linear in the number of members.
    package subscript(_ name: String) -> JSONView? {
        var name = name
        return name.withUTF8 { value(named: $0) }
    }

    func value(named name: UnsafeBufferPointer<UInt8>) -> JSONView? {
        let value = document.withSource { source -> Int? in
            for member in source.members(of: index)
            where source.isNamed(source.tape[member.name], name) {
                return member.value
            }
            return nil
        }
        return value.map { JSONView(document: document, index: $0) }
    }

    /// The element at `position`, from 0; nil after the last one. The time is linear in `position`.
    func element(at position: Int) -> JSONView? {
        let array = entry
        guard array.kind == .array, position >= 0, position < array.count else { return nil }
        var index = index + 1
        for _ in 0..<position { index = Int(document.tape[index].next) }
        return JSONView(document: document, index: index)
    }

    /// An object's members in the order of the text; empty for other kinds.
    package var members: Members { Members(of: self) }

    /// An array's elements in order; empty for other kinds.
    package var elements: Elements { Elements(of: self) }

    /// The strings of an array. Nil if this is not an array, if it has more than `most` elements,
    /// or if an element is not a string.
    package func strings(atMost most: Int) -> [String]? {
        guard entry.kind == .array, count <= most else { return nil }
        let strings = elements.compactMap(\.string)
        return strings.count == count ? strings : nil
    }

    /// An object's members as a lazy sequence. Escapes are removed from each name when it is read.
    package struct Members: Sequence, IteratorProtocol, Sendable {
        private let document: JSONDocument
        private var index: Int
        private var left: Int

        fileprivate init(of object: JSONView) {
            document = object.document
            index = object.index + 1
            left = object.entry.kind == .object ? object.count : 0
        }

        /// The next member; nil after the last one.
        package mutating func next() -> (name: String, value: JSONView)? {
            guard left > 0 else { return nil }
            let value = JSONView(document: document, index: index + 1)
            let name = document.text(of: document.tape[index])
            left -= 1
            index = Int(document.tape[index + 1].next)
            return (name, value)
        }

        /// The exact number of members that are left.
        package var underestimatedCount: Int { left }
    }

    /// An array's elements as a lazy sequence.
    package struct Elements: Sequence, IteratorProtocol, Sendable {
        private let document: JSONDocument
        private var index: Int
        private var left: Int

        fileprivate init(of array: JSONView) {
            document = array.document
            index = array.index + 1
            left = array.entry.kind == .array ? array.count : 0
        }

        /// The next element; nil after the last one.
        package mutating func next() -> JSONView? {
            guard left > 0 else { return nil }
            let value = JSONView(document: document, index: index)
            left -= 1
            index = Int(document.tape[index].next)
            return value
        }

        /// The exact number of elements that are left.
        package var underestimatedCount: Int { left }
    }
}
