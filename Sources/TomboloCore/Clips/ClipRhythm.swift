/// When a clip asks for frames: small, where a clip is large, and looked at with each of them.
struct ClipRhythm: Hashable, Sendable {
    /// The interval of the frames that the producer asks for.
    let every: Span
    /// How long it plays; nil for ever.
    let duration: Span?
    /// How many frames a flip-book has; nil of a tween.
    let loop: Int64?

    /// How many frames are asked for after `elapsed`, as `Clip.asked` has it.
    func asked(after elapsed: Span) -> Int64 {
        guard elapsed >= .zero else { return 0 }
        let steps = elapsed.nanoseconds / every.nanoseconds
        guard let duration else { return steps + 1 }
        if loop != nil { return min(steps, duration.nanoseconds / every.nanoseconds - 1) + 1 }
        guard elapsed < duration else {
            return (duration.nanoseconds + every.nanoseconds - 1) / every.nanoseconds + 1
        }
        return steps + 1
    }
}
