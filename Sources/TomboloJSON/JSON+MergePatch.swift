extension JSON {
    /// This value after a merge patch (RFC 7396 section 2).
    ///
    /// Members that the patch does not name keep their very bytes, their order and the space around
    /// them; new members come last, in the patch's order and with the patch's bytes, without the
    /// members that are null. Arrays are replaced whole. The result nests no deeper than the deeper of
    /// the two.
    package func mergePatched(with patch: JSON) -> JSON {
        let change = patch.document.root
        guard change.kind == .object else { return patch }
        var merge = JSONMerge(capacity: bytes.count + patch.bytes.count)
        merge.write(document.root, patchedWith: change)
        return JSON(unchecked: merge.output)
    }
}

/// A merge under way: writes the result from front to back, copying from both texts.
private struct JSONMerge {
    private(set) var output: [UInt8] = []

    init(capacity: Int) { output.reserveCapacity(capacity) }

    /// Writes `target` as `patch`, an object or not, leaves it.
    mutating func write(_ target: JSONView, patchedWith patch: JSONView) {
        if patch.entry.kind != .object {
            output.append(contentsOf: patch.raw)
        } else if target.entry.kind != .object {
            writeWithoutNulls(patch)
        } else {
            writeObject(target, patchedWith: patch)
        }
    }

    private mutating func writeObject(_ target: JSONView, patchedWith patch: JSONView) {
        var changes = JSONChanges(patch)
        var object = JSONObjectCopy(of: target, into: &output)
        for (name, value) in target.entries {
            guard let change = changes.take(target.document, target.document.tape[name]) else {
                object.keep(name, value, in: &output)
                continue
            }
            if change.isNull {
                object.skip(value)
            } else {
                object.keepName(name, value, in: &output)
                write(JSONView(document: target.document, index: value), patchedWith: change)
            }
        }
        for (name, value) in changes.left where !value.isNull {
            object.separate(in: &output)
            output.append(contentsOf: patch.document.bytes[patch.document.tape[name].range])
            output.append(ASCII.colon)
            writeWithoutNulls(value)
        }
        object.finish(in: &output)
    }

    /// Writes a value of the patch where the target has none: patching an empty object drops the
    /// members that are null, at every depth, but not inside arrays.
    private mutating func writeWithoutNulls(_ value: JSONView) {
        let tape = value.document.tape
        let content = value.index..<Int(value.entry.next)
        guard value.entry.kind == .object, tape[content].contains(where: { $0.kind == .null })
        else {
            output.append(contentsOf: value.raw)
            return
        }
        var object = JSONObjectCopy(of: value, into: &output)
        for (name, index) in value.entries {
            if tape[index].kind == .null {
                object.skip(index)
            } else {
                object.keepName(name, index, in: &output)
                writeWithoutNulls(JSONView(document: value.document, index: index))
            }
        }
        object.finish(in: &output)
    }
}

/// Copies an object member by member with the space between them, leaving some out.
private struct JSONObjectCopy {
    private let source: JSONView
    /// Past the last member seen: where the space and comma before the next one begin.
    private var seen: Int
    private var isEmpty = true

    init(of source: JSONView, into output: inout [UInt8]) {
        self.source = source
        seen = Int(source.entry.start) + 1
        output.append(ASCII.openBrace)
    }

    /// Copies a member.
    mutating func keep(_ name: Int, _ value: Int, in output: inout [UInt8]) {
        keepName(name, value, in: &output)
        output.append(contentsOf: source.document.bytes[source.document.tape[value].range])
    }

    /// Copies a member up to its value, which the caller writes.
    mutating func keepName(_ name: Int, _ value: Int, in output: inout [UInt8]) {
        let (bytes, tape) = (source.document.bytes, source.document.tape)
        // The first member kept takes the space behind the brace: what is before it has a comma.
        let gap = isEmpty ? leadingGap : seen..<Int(tape[name].start)
        output.append(contentsOf: bytes[gap])
        output.append(contentsOf: bytes[Int(tape[name].start)..<Int(tape[value].start)])
        skip(value)
        isEmpty = false
    }

    /// Leaves a member out.
    mutating func skip(_ value: Int) { seen = Int(source.document.tape[value].end) }

    /// Writes the comma before a member that the source does not have.
    mutating func separate(in output: inout [UInt8]) {
        if !isEmpty { output.append(ASCII.comma) }
        isEmpty = false
    }

    /// Writes the space behind the last member, and the brace.
    mutating func finish(in output: inout [UInt8]) {
        output.append(contentsOf: source.document.bytes[seen..<Int(source.entry.end)])
    }

    /// The space between the brace and the first member.
    private var leadingGap: Range<Int> {
        let (start, tape) = (Int(source.entry.start) + 1, source.document.tape)
        return start..<(source.count > 0 ? Int(tape[source.index + 1].start) : start)
    }
}

/// A patch's members, each to be taken once by name.
private struct JSONChanges {
    private let patch: JSONView
    private let members: [(name: Int, value: Int)]
    private var taken: [Bool]
    /// Places in `members` by unescaped name; only for patches so large that looking at one name after
    /// another would be quadratic.
    private var places: [[UInt8]: Int] = [:]

    init(_ patch: JSONView) {
        self.patch = patch
        members = Array(patch.entries)
        taken = Array(repeating: false, count: members.count)
        guard members.count > JSONScanner.namesComparedMax else { return }
        places.reserveCapacity(members.count)
        for (place, member) in members.enumerated() {
            places[patch.document.unescaped(patch.document.tape[member.name])] = place
        }
    }

    /// The change for the member of `document` with this name, if there is one.
    mutating func take(_ document: JSONDocument, _ name: JSONEntry) -> JSONView? {
        guard let place = place(document, name) else { return nil }
        taken[place] = true
        return JSONView(document: patch.document, index: members[place].value)
    }

    private func place(_ document: JSONDocument, _ name: JSONEntry) -> Int? {
        guard places.isEmpty else { return places[document.unescaped(name)] }
        return document.withText(of: name) { wanted in
            patch.document.bytes.withUnsafeBufferPointer { text in
                members.firstIndex {
                    patch.document.isNamed(patch.document.tape[$0.name], wanted, in: text)
                }
            }
        }
    }

    /// What no member took, in the patch's order.
    var left: [(name: Int, value: JSONView)] {
        members.indices.filter { !taken[$0] }.map { place in
            let (name, value) = members[place]
            return (name, JSONView(document: patch.document, index: value))
        }
    }
}
