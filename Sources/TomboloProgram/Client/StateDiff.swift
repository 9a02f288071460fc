import TomboloJSON

/// The differences between two JSON values, place by place.
struct StateDiff {
    /// A difference at one place. `before` or `after` is nil if this side has no value.
    struct Change {
        let pointer: JSONPointer
        let before: JSONView?
        let after: JSONView?
    }

    private(set) var changes: [Change] = []

    /// Lists changes in the order of `before`. New members come last in their object or array.
    init(from before: JSONView, to after: JSONView) {
        compare(before, after, at: JSONPointer(tokens: []))
    }

    private mutating func compare(_ before: JSONView, _ after: JSONView, at place: JSONPointer) {
        switch (before.kind, after.kind) {
        case (.object, .object):
            for (name, value) in before.members {
                step(value, after[name], at: place.appending(name))
            }
            for (name, value) in after.members where before[name] == nil {
                step(nil, value, at: place.appending(name))
            }
        case (.array, .array):
            let (old, new) = (Array(before.elements), Array(after.elements))
            for index in 0..<max(old.count, new.count) {
                step(
                    index < old.count ? old[index] : nil, index < new.count ? new[index] : nil,
                    at: place.appending(index))
            }
        case (.string, .string):
            if before.string != after.string { add(before, after, place) }
        default:
            // A number with another spelling counts as changed: a receiver gets other bytes.
            if !before.raw.elementsEqual(after.raw) { add(before, after, place) }
        }
    }

    private mutating func step(_ before: JSONView?, _ after: JSONView?, at place: JSONPointer) {
        guard let before, let after else { return add(before, after, place) }
        compare(before, after, at: place)
    }

    private mutating func add(_ before: JSONView?, _ after: JSONView?, _ place: JSONPointer) {
        changes.append(Change(pointer: place, before: before, after: after))
    }
}

extension StateDiff.Change {
    /// Writes the members of the change. If a side has no value, its member is left out.
    func write(to writer: inout JSONWriter) {
        writer.member("pointer", pointer.description)
        if let before { writer.member("before", before.json) }
        if let after { writer.member("after", after.json) }
    }
}
