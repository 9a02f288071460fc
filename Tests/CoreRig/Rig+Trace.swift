import TomboloCore

/// All that a run of the core said, as one number, so that two builds can be compared.
extension Rig {
    /// A hash of every push with its time, every answer, and every record and fact in its order.
    ///
    /// The names of types are left out, and the names of fields count: a declaration may move and
    /// its owner may be renamed, and the number stays.
    package var trace: UInt64 {
        if isUnordered { return unorderedTrace }
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

    /// The same without the order of what one moment brought: pushes with their times, answers,
    /// records and facts as sets. The ids of pushes are left out, for they count the pushes.
    private var unorderedTrace: UInt64 {
        var parts = pushes.map { at, push in
            var push = push
            (push.id, push.apnsID) = (PushID(0), "")
            return Trace.hash([at, push])
        }
        parts += answers.map { Trace.hash($0) }
        parts += stored.map { Trace.hash($0) } + facts.map { Trace.hash($0) }
        return parts.reduce(0) { $0 &+ $1 }
    }

    /// The order in which pushes of one step are carried out where their own order says nothing.
    static func comesBefore(_ one: Push, _ other: Push) -> Bool {
        let keys = [one, other].map { [$0.token, $0.event.name, "\($0.expiration)"] }
        guard keys[0] == keys[1] else { return keys[0].lexicographicallyPrecedes(keys[1]) }
        return one.payload.lexicographicallyPrecedes(other.payload)
    }
}

/// Walks a value field by field.
private struct Trace {
    var hash = StableHash()
    /// Whether UUIDs are left out.
    var masksIDs = false

    /// Of one value, without the UUIDs in it.
    static func hash(_ value: Any) -> UInt64 {
        var trace = Trace(masksIDs: true)
        trace.add(value)
        return trace.hash.value
    }

    mutating func add(_ value: Any) {
        if let bytes = value as? [UInt8] {
            return hash.combine(masksIDs ? Self.withoutIDs(bytes) : bytes)
        }
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

    private static func withoutIDs(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        let (dash, dashes, length) = (UInt8(ascii: "-"), [8, 13, 18, 23], 36)
        for start in bytes.indices.dropLast(length - 1)
        where dashes.allSatisfy({ bytes[start + $0] == dash }) {
            for place in start..<start + length { bytes[place] = dash }
        }
        return bytes
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
