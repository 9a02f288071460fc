import TomboloJSON

// All frames of a flip-book in one content state, for apps that play them.

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
        for frame in flipbook.frames { writer.raw(frame) }
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
}
