extension JSONView {
    /// Members of an object or elements of an array; 0 for every other kind.
    package var count: Int { entry.count }

    /// The member with this name, compared by the UTF-8 of its characters; nil if there is none or
    /// this is no object. Looks at one name after another.
    package subscript(_ name: String) -> JSONView? {
        var name = name
        return name.withUTF8 { value(named: $0) }
    }

    func value(named name: UnsafeBufferPointer<UInt8>) -> JSONView? {
        let object = entry
        guard object.kind == .object else { return nil }
        return document.bytes.withUnsafeBufferPointer { text -> JSONView? in
            var index = index + 1
            for _ in 0..<object.count {
                let entry = document.tape[index]
                if document.isNamed(entry, name, in: text) {
                    return JSONView(document: document, index: index + 1)
                }
                index = Int(document.tape[index + 1].next)
            }
            return nil
        }
    }

    /// The element at `position`, from 0; nil past the end. Walks from the first element.
    func element(at position: Int) -> JSONView? {
        let array = entry
        guard array.kind == .array, position >= 0, position < array.count else { return nil }
        var index = index + 1
        for _ in 0..<position { index = Int(document.tape[index].next) }
        return JSONView(document: document, index: index)
    }

    /// Where an object's members stand on the tape: names and values.
    var entries: [(name: Int, value: Int)] {
        let object = entry
        guard object.kind == .object else { return [] }
        var index = index + 1
        return (0..<object.count).map { _ in
            defer { index = Int(document.tape[index + 1].next) }
            return (index, index + 1)
        }
    }

    /// An object's members in the order of the text; empty for every other kind.
    package var members: Members { Members(of: self) }

    /// An array's elements in order; empty for every other kind.
    package var elements: Elements { Elements(of: self) }

    /// An object's members, walked once and lazily: names are unescaped as they come.
    package struct Members: Sequence, IteratorProtocol, Sendable {
        private let document: JSONDocument
        private var index: Int
        private var left: Int

        fileprivate init(of object: JSONView) {
            document = object.document
            index = object.index + 1
            left = object.entry.kind == .object ? object.count : 0
        }

        /// The next member; nil after the last.
        package mutating func next() -> (name: String, value: JSONView)? {
            guard left > 0 else { return nil }
            let value = JSONView(document: document, index: index + 1)
            let name = document.text(of: document.tape[index])
            left -= 1
            index = Int(document.tape[index + 1].next)
            return (name, value)
        }

        /// Exactly the members left.
        package var underestimatedCount: Int { left }
    }

    /// An array's elements, walked once and lazily.
    package struct Elements: Sequence, IteratorProtocol, Sendable {
        private let document: JSONDocument
        private var index: Int
        private var left: Int

        fileprivate init(of array: JSONView) {
            document = array.document
            index = array.index + 1
            left = array.entry.kind == .array ? array.count : 0
        }

        /// The next element; nil after the last.
        package mutating func next() -> JSONView? {
            guard left > 0 else { return nil }
            let value = JSONView(document: document, index: index)
            left -= 1
            index = Int(document.tape[index].next)
            return value
        }

        /// Exactly the elements left.
        package var underestimatedCount: Int { left }
    }
}

extension JSONDocument {
    /// Lends the UTF-8 bytes of what a string's entry says.
    func withText<Result>(
        of entry: JSONEntry, _ body: (UnsafeBufferPointer<UInt8>) -> Result
    ) -> Result {
        if entry.escapes { return unescaped(entry).withUnsafeBufferPointer(body) }
        return bytes.withUnsafeBufferPointer {
            body(UnsafeBufferPointer(rebasing: $0[entry.content]))
        }
    }

    /// Whether a name's entry says `name`, byte for byte after unescaping.
    func isNamed(
        _ entry: JSONEntry, _ name: UnsafeBufferPointer<UInt8>, in text: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        if entry.escapes {
            return unescaped(entry).withUnsafeBufferPointer { JSONText.compare($0, name) == 0 }
        }
        let content = UnsafeBufferPointer(rebasing: text[entry.content])
        return JSONText.compare(content, name) == 0
    }
}
