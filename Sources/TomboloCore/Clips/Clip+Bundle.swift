import TomboloJSON

// Extra members of a content state, for apps that play flip-books by themselves or animate between
// keyframes.

extension Clip {
    static let bundleMember = "clip"

    /// `state` with a flip-book's frames in an extra member:
    /// `{"path","frames","every","loop","began"}`. `every` is in seconds, `loop` the number of
    /// repetitions or true for ever, `began` the Unix time of the first frame in seconds. The app
    /// shows frame ⌊(now − began) / every⌋, in a loop modulo the number of frames. The present
    /// frame stays at `path`, for apps that do not know bundles.
    ///
    /// Returns nil for a tween, and if the state has a member of that name already.
    func bundled(into state: JSON, began: Instant) -> JSON? {
        guard case .flipbook(let flipbook) = motion,
            state.document.root[Self.bundleMember] == nil
        else { return nil }
        let member = JSON.object { writer in
            writer.member("path", path.description)
            writer.array("frames", of: flipbook.framesInTurn) { $0.raw($1) }
            writer.member("every", flipbook.every.seconds)
            switch flipbook.repetition {
            case .forever: writer.member("loop", true)
            case .times(let count): writer.member("loop", count)
            }
            writer.named("began") { $0.double(Double(began.nanoseconds / 1_000_000) / 1_000) }
        }
        return state.setting(JSONPointer(tokens: [Self.bundleMember]), to: member)
    }

    /// `state` with an extra member that says when the keyframe is reached: `{"path","reached"}`,
    /// in Unix seconds. The phone animates until then, because it cannot know when the next
    /// keyframe comes.
    ///
    /// Returns nil if the state has a member of that name already.
    func keyframed(into state: JSON, reached: Instant) -> JSON? {
        guard state.document.root[Self.bundleMember] == nil else { return nil }
        let member = JSON.object { writer in
            writer.member("path", path.description)
            writer.named("reached") { $0.double(Double(reached.nanoseconds / 1_000_000) / 1_000) }
        }
        return state.setting(JSONPointer(tokens: [Self.bundleMember]), to: member)
    }
}
