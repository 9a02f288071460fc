extension JSONScanner {
    /// Up to this number of members, names are compared in pairs; above it, they are sorted.
    static var namesComparedMax: Int { 16 }

    /// Throws if two names of the object at `object` are equal without their escapes.
    ///
    /// Decoders disagree about which of two such members counts (RFC 8259 section 4), so a phone
    /// could show something else than the log has.
    @inline(__always)
    mutating func checkNames(of object: Int) throws(JSONError) {
        let count = tape[object].count
        guard count > 1 else { return }
        guard count <= Self.namesComparedMax,
            !tape[object].escapes || hasOneSpelling(namesOf: object, count)
        else {
            return try checkNamesSorted(of: object)
        }
        var seen: UInt64 = 0
        var name = object + 1
        for _ in 0..<count {
            let content = tape[name].content
            let bit = fingerprint(content)
            if seen & bit != 0 { try compareWithEarlier(name, of: object) }
            seen |= bit
            name = Int(tape[name + 1].next)
        }
    }

    /// True if no name has an escape for a character that has another spelling: `\uXXXX` or `\/`.
    /// Such names are equal if their texts are.
    private func hasOneSpelling(namesOf object: Int, _ count: Int) -> Bool {
        var name = object + 1
        for _ in 0..<count {
            let content = tape[name].content
            var place = content.lowerBound
            while tape[name].escapes, place < content.upperBound {
                if text[place] == ASCII.backslash {
                    place += 1
                    let escaped = text[place]
                    if escaped == UInt8(ascii: "u") || escaped == ASCII.slash { return false }
                }
                place += 1
            }
            name = Int(tape[name + 1].next)
        }
        return true
    }

    /// One of 64 bits, chosen by a name's length, first and last byte. Equal names have the same
    /// bit.
    @inline(__always)
    private func fingerprint(_ content: Range<Int>) -> UInt64 {
        var hash = UInt32(truncatingIfNeeded: content.count)
        if !content.isEmpty {
            hash = hash &<< 16 | UInt32(text[content.lowerBound]) &<< 8
            hash |= UInt32(text[content.upperBound - 1])
        }
        return 1 &<< UInt64((hash &* 0x9E37_79B1) &>> 26)
    }

    private func compareWithEarlier(_ name: Int, of object: Int) throws(JSONError) {
        let content = UnsafeBufferPointer(rebasing: text[tape[name].content])
        var earlier = object + 1
        while earlier < name {
            let other = tape[earlier].content
            if other.count == content.count, text[other].elementsEqual(content) {
                throw duplicateKey(tape[name])
            }
            earlier = Int(tape[earlier + 1].next)
        }
    }

    /// The same check for large objects and for names of several spellings, in n log n.
    private mutating func checkNamesSorted(of object: Int) throws(JSONError) {
        names.take(tape, text, object)
        if let second = names.firstRepeated(text) { throw duplicateKey(tape[second]) }
    }
}

/// The names of one object, to be compared. A scanner has one for all objects, so that each object
/// costs no new memory.
struct JSONNames {
    private struct Name {
        /// Index of the name's entry.
        var entry: Int
        /// Where it is in the text, or, if it has escapes, in `pool` without them.
        var range: Range<Int>
        var isPooled: Bool
    }

    private var pool: [UInt8] = []
    private var names: [Name] = []

    /// Replaces the names by those of the object at `object`.
    mutating func take(_ tape: JSONTape, _ text: UnsafeBufferPointer<UInt8>, _ object: Int) {
        pool.removeAll(keepingCapacity: true)
        names.removeAll(keepingCapacity: true)
        var name = object + 1
        for _ in 0..<tape[object].count {
            let entry = tape[name]
            if entry.escapes {
                let start = pool.count
                JSONText.unescape(
                    UnsafeBufferPointer(rebasing: text[entry.content]), into: &pool)
                names.append(Name(entry: name, range: start..<pool.count, isPooled: true))
            } else {
                names.append(Name(entry: name, range: entry.content, isPooled: false))
            }
            name = Int(tape[name + 1].next)
        }
    }

    /// The entry of the first name that the object has before, too. Changes the names' order.
    mutating func firstRepeated(_ text: UnsafeBufferPointer<UInt8>) -> Int? {
        pool.withUnsafeBufferPointer { pool in
            func compare(_ left: Name, _ right: Name) -> Int {
                JSONText.compare(
                    UnsafeBufferPointer(rebasing: (left.isPooled ? pool : text)[left.range]),
                    UnsafeBufferPointer(rebasing: (right.isPooled ? pool : text)[right.range]))
            }
            if names.count <= JSONScanner.namesComparedMax {
                for (place, name) in names.enumerated() {
                    for earlier in names[..<place] where compare(earlier, name) == 0 {
                        return name.entry
                    }
                }
                return nil
            }
            // Equal names stay in the order of the text, so that the later one is reported.
            names.sort { left, right in
                let result = compare(left, right)
                return result < 0 || result == 0 && left.entry < right.entry
            }
            return zip(names, names.dropFirst())
                .filter { compare($0, $1) == 0 }.map(\.1.entry).min()
        }
    }
}
