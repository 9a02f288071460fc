import TomboloCore

/// All that a run of the core said, as one number, so that two builds can be compared.
extension Rig {
    /// A hash of every push with its time, every answer, and every record and fact in its order.
    ///
    /// The names of types are left out, and the names of fields count: a declaration may move and
    /// its owner may be renamed, and the number stays.
    package var trace: UInt64 {
        var trace = Trace()
        for (at, push) in pushes {
            trace.add(at)
            trace.add(push)
        }
        for answer in answers { trace.add(answer) }
        for record in stored { trace.add(record) }
        for fact in facts { trace.add(fact) }
        return trace.hash.value
    }
}

/// Walks a value field by field.
private struct Trace {
    var hash = StableHash()

    mutating func add(_ value: Any) {
        if let bytes = value as? [UInt8] { return hash.combine(bytes) }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .set, .dictionary: addUnordered(mirror.children)
        case _ where mirror.children.isEmpty: hash.combine("\(value)".utf8)
        default:
            for child in mirror.children {
                hash.combine((child.label ?? "").utf8)
                add(child.value)
            }
        }
    }

    /// The order of a set's or dictionary's members differs from process to process.
    private mutating func addUnordered(_ children: Mirror.Children) {
        let hashes = children.map { child in
            var member = Trace()
            member.add(child.value)
            return member.hash.value
        }
        for value in hashes.sorted() { hash.combine("\(value)".utf8) }
    }
}
