extension JSON {
    /// This value with another one at `pointer`: in place of what is there, or as a new last member
    /// of an object that is there. Every other byte stays.
    ///
    /// - Returns: nil where the way there does not exist, and for an array's element that does not
    ///   exist: splicing never makes an array longer.
    package func setting(_ pointer: JSONPointer, to value: JSON) -> JSON? {
        guard let name = pointer.tokens.last else { return value }
        let parent = JSONPointer(tokens: pointer.tokens.dropLast())
        guard let container = document.root.at(parent) else { return nil }
        if let old = container.step(name) {
            return replacing(old.entry.range, with: value.bytes)
        }
        guard container.kind == .object else { return nil }
        var member = JSONWriter(capacity: name.utf8.count + value.bytes.count + 3)
        member.member(name, value)
        let place = container.endOfMembers
        let comma = container.count > 0 ? [ASCII.comma] : []
        return replacing(place..<place, with: comma + member.bytes)
    }

    private func replacing(_ range: Range<Int>, with insertion: [UInt8]) -> JSON {
        var output = bytes
        output.replaceSubrange(range, with: insertion)
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
