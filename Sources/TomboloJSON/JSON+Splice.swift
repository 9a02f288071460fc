/// A place in a value at which other values are inserted. It is found once and used for many
/// values.
package struct JSONSplice: Hashable, Sendable {
    /// The range that the other value replaces; empty for a new member.
    fileprivate let range: Range<Int>
    /// What is written before the value of a new member: a comma, and the name.
    fileprivate let lead: [UInt8]
}

extension JSON {
    /// This value with another one at `pointer`. The other one replaces the value there, or becomes
    /// a new last member of an existing object. No other byte changes.
    ///
    /// - Returns: nil if the parent does not exist, or if the pointer names an array's element that
    ///   does not exist: an array never gets longer.
    package func setting(_ pointer: JSONPointer, to value: JSON) -> JSON? {
        guard !pointer.tokens.isEmpty else { return value }
        return splice(at: pointer).map { setting($0, to: value) }
    }

    /// The place at `pointer`, for `setting`. Nil if `setting` would return nil, and for the whole
    /// value.
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

    /// This value with another one at `splice`, which must have been found in this value.
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
    /// The offset after the last member's value; in an empty object, after the opening brace.
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
