import TomboloJSON

// Members that a content state has beside a frame, for apps that play flip-books by themselves or
// animate between keyframes.

extension Clip {
    /// The name of this member of the content state.
    static let bundleMember = "clip"

    /// `state` with a flip-book's frames beside it: `{"path","frames","every","loop","began"}`.
    /// `every` is in seconds, `loop` a number of times or true for ever, `began` the Unix time of
    /// the first frame in seconds. The app shows frame ⌊(now − began) / every⌋, modulo their number
    /// in a loop. The present frame stays at `path`, for apps that do not know bundles.
    ///
    /// Nil for a tween, and if the state has a member of that name.
    func bundled(into state: JSON, began: Instant) -> JSON? {
        guard case .flipbook(let flipbook) = motion,
            state.document.root[Self.bundleMember] == nil
        else { return nil }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("path", path.description)
        writer.name("frames")
        writer.beginArray()
        for frame in flipbook.framesInTurn { writer.raw(frame) }
        writer.endArray()
        writer.member("every", flipbook.every.seconds)
        switch flipbook.repetition {
        case .forever: writer.member("loop", true)
        case .times(let count): writer.member("loop", count)
        }
        writer.name("began")
        writer.double(Double(began.nanoseconds / 1_000_000) / 1_000)
        writer.endObject()
        return state.setting(JSONPointer(tokens: [Self.bundleMember]), to: writer.json)
    }

    /// `state` with the time at which its keyframe is reached beside it: `{"path","reached"}`, a
    /// Unix time in seconds. The phone animates until then: it cannot know when the next keyframe
    /// comes.
    ///
    /// Nil if the state has a member of that name.
    func keyframed(into state: JSON, reached: Instant) -> JSON? {
        guard state.document.root[Self.bundleMember] == nil else { return nil }
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("path", path.description)
        writer.name("reached")
        writer.double(Double(reached.nanoseconds / 1_000_000) / 1_000)
        writer.endObject()
        return state.setting(JSONPointer(tokens: [Self.bundleMember]), to: writer.json)
    }
}
