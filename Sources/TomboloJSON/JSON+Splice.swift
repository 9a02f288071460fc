/// A place in one value where another one is to stand: found once, used for many.
package struct JSONSplice: Hashable, Sendable {
    /// What the other one replaces; empty where nothing stands there yet.
    fileprivate let range: Range<Int>
    /// What goes before it: a new member's comma and name.
    fileprivate let lead: [UInt8]
}

extension JSON {
    /// This value with another one at `pointer`: in place of what is there, or as a new last member
    /// of an object that is there. Every other byte stays.
    ///
    /// - Returns: nil where the way there does not exist, and for an array's element that does not
    ///   exist: splicing never makes an array longer.
    package func setting(_ pointer: JSONPointer, to value: JSON) -> JSON? {
        guard !pointer.tokens.isEmpty else { return value }
        return splice(at: pointer).map { setting($0, to: value) }
    }

    /// Where another value at `pointer` would stand, for `setting`; nil where that answers nil, and
    /// for the whole value.
    package func splice(at pointer: JSONPointer) -> JSONSplice? {
        guard let name = pointer.tokens.last else { return nil }
        let parent = JSONPointer(tokens: pointer.tokens.dropLast())
        guard let container = document.root.at(parent) else { return nil }
        if let old = container.step(name) {
            return JSONSplice(range: old.entry.range, lead: [])
        }
        guard container.kind == .object else { return nil }
        var member = JSONWriter(capacity: name.utf8.count + 3)
        member.name(name)
        let place = container.endOfMembers
        let comma = container.count > 0 ? [ASCII.comma] : []
        return JSONSplice(range: place..<place, lead: comma + member.bytes)
    }

    /// This value with another one at a place that was found in it: in it, and in no other.
    package func setting(_ splice: JSONSplice, to value: JSON) -> JSON {
        let kept = bytes.count - splice.range.count
        let output = [UInt8](
            unsafeUninitializedCapacity: kept + splice.lead.count + value.bytes.count
        ) { buffer, count in
            func put(_ piece: UnsafeBufferPointer<UInt8>) {
                guard let start = piece.baseAddress, let room = buffer.baseAddress else { return }
                (room + count).initialize(from: start, count: piece.count)
                count += piece.count
            }
            bytes.withUnsafeBufferPointer { whole in
                put(UnsafeBufferPointer(rebasing: whole[..<splice.range.lowerBound]))
                splice.lead.withUnsafeBufferPointer(put)
                value.bytes.withUnsafeBufferPointer(put)
                put(UnsafeBufferPointer(rebasing: whole[splice.range.upperBound...]))
            }
        }
        return JSON(unchecked: output)
    }
}

extension JSONView {
    /// Offset behind the last member's value, or behind the brace of an object without members.
    fileprivate var endOfMembers: Int {
        var end = Int(entry.start) + 1
        var index = index + 1
        for _ in 0..<count {
            end = Int(document.tape[index + 1].end)
            index = Int(document.tape[index + 1].next)
        }
        return end
    }
}
