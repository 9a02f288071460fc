import TomboloJSON

// What a content state carries beside a frame, for apps that play flip-books by themselves or move
// between keyframes.

extension Clip {
    /// The member of the content state that a bundle stands in.
    static let bundleMember = "clip"

    /// `state` with all frames of a flip-book beside it: `{"path","frames","every","loop","began"}`,
    /// `every` in seconds, `loop` a number of times or true for ever, and `began` the Unix time of
    /// the first frame, in seconds: frame ⌊(now − began) / every⌋ is shown, modulo their number
    /// where it loops. The frame of now stands at `path` too, for apps that know no bundles.
    ///
    /// Nil for a tween, and where the state has a member of that name.
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

    /// `state` with the moment beside it at which its keyframe is reached: `{"path","reached"}`, a
    /// Unix time in seconds. The phone moves there until then: it cannot know how far the next one
    /// is.
    ///
    /// Nil where the state has a member of that name.
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
