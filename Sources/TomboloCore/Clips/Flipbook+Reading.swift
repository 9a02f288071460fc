import TomboloJSON

extension Flipbook {
    /// Reads the object under `flipbook`. The clip reads the members `path` and `clock`.
    init?(reading reader: inout FieldReader, view: JSONView) {
        let frames = Self.frames(&reader)
        let every = reader.span("every", in: Self.everyRange)
        reader.require("every", ": a duration such as \"100ms\"")
        let repetition = Self.repetition(&reader)
        let startAt = reader.integer("start_at", in: 0...255).map { Int($0) }
        guard let frames, let every else { return nil }
        guard startAt.map(frames.indices.contains) ?? true else {
            reader.fail(
                "start_at", "must be the place of a frame, from 0 to \(frames.indices.last ?? 0)")
            return nil
        }
        guard
            let book = Self(
                frames: frames, every: every, repetition: repetition, startAt: startAt)
        else {
            reader.fail(
                "loop",
                "makes it play longer than 100 years; write \"forever\", or a smaller number")
            return nil
        }
        self = book
    }

    private static func frames(_ reader: inout FieldReader) -> [JSON]? {
        guard let list = reader.value("frames"), list.kind == .array,
            (2...framesMax).contains(list.count)
        else {
            reader.fail("frames", "must be an array of 2 to \(framesMax) frames")
            return nil
        }
        return list.elements.map(\.json)
    }

    private static func repetition(_ reader: inout FieldReader) -> Repetition {
        guard let value = reader.value("loop") else { return .forever }
        switch (value.string, value.integer) {
        case ("forever", _): return .forever
        case ("once", _): return .times(1)
        case (_, let count?) where (1...timesMax).contains(count): return .times(count)
        default:
            reader.fail("loop", "must be \"forever\", \"once\" or a number of times")
            return .forever
        }
    }

    /// Writes the members that `init(reading:)` reads, without the braces around them.
    func writeMembers(into writer: inout JSONWriter) {
        writer.array("frames", of: frames) { $0.raw($1) }
        writer.member("every", every.text)
        if case .times(let count) = repetition { writer.member("loop", count) }
        if let startAt { writer.member("start_at", startAt) }
    }
}
