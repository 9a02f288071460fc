extension JSON {
    /// This value after a merge patch (RFC 7396 section 2). Members that the patch does not name
    /// keep their bytes, order and white space. New members come last, in the patch's order and
    /// with its bytes, but without members that are null. Arrays are replaced as a whole. The
    /// result is nested at most as deep as the deeper one of both.
    package func mergePatched(with patch: JSON) -> JSON {
        let change = patch.document
        guard change.root.kind == .object else { return patch }
        return document.withSource { target in
            change.withSource { patch in
                var merge = JSONMerge(target: target, patch: patch)
                merge.write(0, patchedWith: 0)
                return JSON(unchecked: merge.output)
            }
        }
    }
}

/// A merge in progress. It writes the result from front to back, and copies from both texts.
///
/// It calls itself once for each level of the patch; `JSONLimits.depthCeiling` limits this.
private struct JSONMerge {
    private let target: JSONSource
    private let patch: JSONSource
    private(set) var output: [UInt8] = []

    init(target: JSONSource, patch: JSONSource) {
        self.target = target
        self.patch = patch
        output.reserveCapacity(target.text.count + patch.text.count)
    }

    /// Writes the target's value, changed by the patch's value, which may be of any kind.
    mutating func write(_ value: Int, patchedWith change: Int) {
        if patch.tape[change].kind != .object {
            output.append(contentsOf: patch.bytes(patch.tape[change].range))
        } else if target.tape[value].kind != .object {
            writeWithoutNulls(change)
        } else {
            writeObject(value, patchedWith: change)
        }
    }

    private mutating func writeObject(_ value: Int, patchedWith change: Int) {
        var changes = JSONChanges(patch, change)
        var object = JSONObjectCopy(of: value, in: target)
        for member in target.members(of: value) {
            guard let change = changes.take(target, target.tape[member.name]) else {
                object.keep(member, into: &output)
                continue
            }
            if patch.tape[change].kind == .null {
                object.skip(member)
            } else {
                object.keepName(member, into: &output)
                write(member.value, patchedWith: change)
            }
        }
        for member in changes.left where patch.tape[member.value].kind != .null {
            object.separate(into: &output)
            output.append(contentsOf: patch.bytes(patch.tape[member.name].range))
            output.append(ASCII.colon)
            writeWithoutNulls(member.value)
        }
        object.finish(into: &output)
    }

    /// Writes a value of the patch that the target does not have, without its null members. Null
    /// members are kept only inside arrays.
    private mutating func writeWithoutNulls(_ value: Int) {
        let entry = patch.tape[value]
        guard entry.kind == .object,
            patch.tape[value..<Int(entry.next)].contains(where: { $0.kind == .null })
        else {
            output.append(contentsOf: patch.bytes(entry.range))
            return
        }
        var object = JSONObjectCopy(of: value, in: patch)
        for member in patch.members(of: value) {
            if patch.tape[member.value].kind == .null {
                object.skip(member)
            } else {
                object.keepName(member, into: &output)
                writeWithoutNulls(member.value)
            }
        }
        object.finish(into: &output)
    }
}

/// Copies an object's members with the white space between them. The caller may skip members.
private struct JSONObjectCopy {
    private let source: JSONSource
    private let object: JSONEntry
    /// The white space between the opening brace and the first member.
    private let lead: Range<Int>
    /// The offset after the last visited member, before the next comma and white space.
    private var seen: Int
    /// A range of bytes that must be copied and is not copied yet.
    private var kept: Range<Int>
    private var isEmpty = true

    init(of index: Int, in source: JSONSource) {
        self.source = source
        object = source.tape[index]
        let start = Int(object.start)
        let first = object.count > 0 ? Int(source.tape[index + 1].start) : start + 1
        lead = start + 1..<first
        seen = start + 1
        kept = start..<start + 1
    }

    mutating func keep(_ member: JSONSource.Member, into output: inout [UInt8]) {
        keepGap(before: member, into: &output)
        keep(Int(source.tape[member.name].start)..<seen, into: &output)
    }

    /// Copies a member without its value, which the caller writes next.
    mutating func keepName(_ member: JSONSource.Member, into output: inout [UInt8]) {
        keepGap(before: member, into: &output)
        let start = Int(source.tape[member.name].start)
        keep(start..<Int(source.tape[member.value].start), into: &output)
        copy(into: &output)
    }

    mutating func skip(_ member: JSONSource.Member) { seen = Int(source.tape[member.value].end) }

    /// Writes the comma before a member that the source does not have.
    mutating func separate(into output: inout [UInt8]) {
        copy(into: &output)
        if !isEmpty { output.append(ASCII.comma) }
        isEmpty = false
    }

    /// Copies the white space after the last member, and the closing brace.
    mutating func finish(into output: inout [UInt8]) {
        keep(seen..<Int(object.end), into: &output)
        copy(into: &output)
    }

    /// The first kept member gets the white space after the brace, because its own may contain a
    /// comma.
    private mutating func keepGap(
        before member: JSONSource.Member, into output: inout [UInt8]
    ) {
        keep(isEmpty ? lead : seen..<Int(source.tape[member.name].start), into: &output)
        isEmpty = false
        skip(member)
    }

    private mutating func keep(_ range: Range<Int>, into output: inout [UInt8]) {
        if range.lowerBound == kept.upperBound {
            kept = kept.lowerBound..<range.upperBound
        } else {
            copy(into: &output)
            kept = range
        }
    }

    private mutating func copy(into output: inout [UInt8]) {
        output.append(contentsOf: source.bytes(kept))
        kept = kept.upperBound..<kept.upperBound
    }
}

/// The members of a patch. Each is taken at most once, by its name.
private struct JSONChanges {
    private let patch: JSONSource
    private let object: Int
    private var taken: [Bool]
    /// Members by unescaped name, with their ordinals. Used only for large patches, for which
    /// comparing all pairs of names would take too long. Nothing depends on its order.
    private var places: [[UInt8]: (ordinal: Int, value: Int)] = [:]

    init(_ patch: JSONSource, _ object: Int) {
        self.patch = patch
        self.object = object
        let count = patch.tape[object].count
        taken = Array(repeating: false, count: count)
        guard count > JSONScanner.namesComparedMax else { return }
        places.reserveCapacity(count)
        for (ordinal, member) in patch.members(of: object).enumerated() {
            places[patch.unescaped(patch.tape[member.name])] = (ordinal, member.value)
        }
    }

    /// Takes the change for a member of `source` with this name. Returns the index of the patch's
    /// value; nil if there is no change.
    mutating func take(_ source: JSONSource, _ name: JSONEntry) -> Int? {
        guard let place = place(source, name) else { return nil }
        taken[place.ordinal] = true
        return place.value
    }

    private func place(_ source: JSONSource, _ name: JSONEntry) -> (ordinal: Int, value: Int)? {
        guard places.isEmpty else { return places[source.unescaped(name)] }
        return source.withText(of: name) { wanted in
            for (ordinal, member) in patch.members(of: object).enumerated()
            where patch.isNamed(patch.tape[member.name], wanted) {
                return (ordinal, member.value)
            }
            return nil
        }
    }

    /// The members that were not taken, in the patch's order.
    var left: some Sequence<JSONSource.Member> {
        zip(patch.members(of: object), taken).lazy.filter { !$0.1 }.map(\.0)
    }
}
