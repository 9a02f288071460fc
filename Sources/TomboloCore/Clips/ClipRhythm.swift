/// The times at which a clip requests frames. It is a small value, because it is read at each
/// frame.
struct ClipRhythm: Hashable, Sendable {
    /// Interval between frames, as requested by the producer.
    let every: Span
    /// How long the clip plays; nil: for ever.
    let duration: Span?
    /// Number of frames of a flip-book; nil for a tween.
    let loop: Int64?

    /// Number of frames requested until `elapsed`, as in `Clip.asked`.
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
