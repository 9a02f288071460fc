package import TomboloJSON

/// A flip-book: frames shown in turn, one each `every`. A function of time; its frames are sampled,
/// never queued.
package struct Flipbook: Hashable, Sendable {
    /// How often it plays.
    package enum Repetition: Hashable, Sendable {
        case forever
        /// At least once.
        case times(Int64)
    }

    /// Two or more.
    package var frames: [JSON]
    package var every: Span
    package var repetition: Repetition = .forever

    package static let framesMax = 256
    /// Faster than a display changes is no animation.
    package static let everyRange = Span.milliseconds(10)...Span.hours(1)

    /// The frame after `elapsed` of the clip's clock; the last one for ever after a last
    /// repetition.
    package func index(at elapsed: Span) -> Int {
        let step = max(0, elapsed.nanoseconds / every.nanoseconds)
        if case .times(let count) = repetition, step >= Int64(frames.count) * count {
            return frames.count - 1
        }
        return Int(step % Int64(frames.count))
    }

    /// How long it plays; nil for ever.
    package var duration: Span? {
        guard case .times(let count) = repetition else { return nil }
        return Span(nanoseconds: every.nanoseconds * Int64(frames.count) * count)
    }
}

extension Flipbook {
    /// Reads the object under `flipbook`; its `path` and `clock` are the clip's.
    init?(reading reader: inout FieldReader, view: JSONView) {
        let frames = Self.frames(&reader)
        let every = reader.span("every", in: Self.everyRange)
        if view["every"] == nil { reader.fail("every", "is missing: a duration such as \"100ms\"") }
        repetition = Self.repetition(&reader)
        guard let frames, let every else { return nil }
        self.frames = frames
        self.every = every
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
        case (_, let count?) where (1...1_000_000).contains(count): return .times(count)
        default:
            reader.fail("loop", "must be \"forever\", \"once\" or a number of times")
            return .forever
        }
    }

    /// As `init(reading:)` reads it, but for the braces around it.
    func writeMembers(into writer: inout JSONWriter) {
        writer.name("frames")
        writer.beginArray()
        for frame in frames { writer.raw(frame) }
        writer.endArray()
        writer.member("every", every.text)
        if case .times(let count) = repetition { writer.member("loop", count) }
    }
}
