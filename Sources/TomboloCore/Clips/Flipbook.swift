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

    /// Whose time moves it: the wall's, or only the time in which it is shown.
    package enum Clock: UInt8, Hashable, Sendable {
        case wall, shown
    }

    /// How frames become pushes; `auto` is `step`, one frame a push.
    package enum Fit: UInt8, Hashable, Sendable {
        case auto, step
    }

    /// Where in the state the frame stands.
    package var path: JSONPointer
    /// Two or more.
    package var frames: [JSON]
    package var every: Span
    package var repetition: Repetition = .forever
    package var clock: Clock = .wall
    package var fit: Fit = .auto
    package var urgency: Urgency = .normal
    package var alertTTL: Span = Alert.defaultTTL

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

    /// How many frames the producer has asked for after `elapsed`: the first at 0, then one each
    /// `every`.
    package func asked(after elapsed: Span) -> Int64 {
        guard elapsed >= .zero else { return 0 }
        let shown = elapsed.nanoseconds / every.nanoseconds + 1
        guard case .times(let count) = repetition else { return shown }
        return min(shown, Int64(frames.count) * count)
    }

    /// `base` with a frame at `path`; `base` itself where its parent is not there.
    package func state(_ base: JSON, showing frame: Int) -> JSON {
        base.setting(path, to: frames[frame]) ?? base
    }
}

extension Flipbook {
    init?(reading reader: inout FieldReader) {
        fit = reader.choice("fit", [("auto", .auto), ("step", .step)]) ?? .auto
        urgency = reader.choice("urgency", Urgency.choices) ?? .normal
        guard let view = reader.object("flipbook") else {
            reader.fail("flipbook", "is missing: {\"path\",\"frames\",\"every\",\"loop\"}")
            return nil
        }
        var inner = FieldReader(view, pointer: reader.path("flipbook"))
        let path = Self.path(&inner)
        let frames = Self.frames(&inner)
        let every = inner.span("every", in: Self.everyRange)
        if view["every"] == nil { inner.fail("every", "is missing: a duration such as \"100ms\"") }
        repetition = Self.repetition(&inner)
        clock = inner.choice("clock", [("wall", .wall), ("shown", .shown)]) ?? .wall
        do { try inner.finish() } catch { reader.adopt(error) }
        guard let path, let frames, let every else { return nil }
        self.path = path
        self.frames = frames
        self.every = every
    }

    private static func path(_ reader: inout FieldReader) -> JSONPointer? {
        guard let text = reader.string("path") else {
            reader.fail("path", "is missing: a JSON Pointer into the state, such as \"/image\"")
            return nil
        }
        if let pointer = JSONPointer(text), !pointer.tokens.isEmpty { return pointer }
        reader.fail("path", "must be a JSON Pointer into the state, such as \"/image\"")
        return nil
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
}

extension Flipbook {
    /// As `init(reading:)` reads it.
    func write(into writer: inout JSONWriter) {
        writer.beginObject()
        writer.member("urgency", urgency.name)
        writer.name("flipbook")
        writer.beginObject()
        writer.member("path", path.description)
        writer.name("frames")
        writer.beginArray()
        for frame in frames { writer.raw(frame) }
        writer.endArray()
        writer.member("every", every.text)
        if case .times(let count) = repetition { writer.member("loop", count) }
        writer.member("clock", clock == .wall ? "wall" : "shown")
        writer.endObject()
        writer.endObject()
    }
}
