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

    /// From 2 to `framesMax`.
    package let frames: [JSON]
    package let every: Span
    package let repetition: Repetition
    /// How long it plays, at most `durationMax`; nil for ever.
    package let duration: Span?

    package static let framesMax = 256
    package static let timesMax: Int64 = 1_000_000
    /// Faster than a display changes is no animation.
    package static let everyRange = Span.milliseconds(10)...Span.hours(1)
    /// A hundred years: what is longer plays for ever, and the range of `Span` ends soon after.
    package static let durationMax = Span.hours(876_000)

    /// Nil where a number is outside its range, or all of it would play longer than `durationMax`.
    package init?(frames: [JSON], every: Span, repetition: Repetition = .forever) {
        guard (2...Self.framesMax).contains(frames.count), Self.everyRange.contains(every) else {
            return nil
        }
        var duration: Span?
        if case .times(let count) = repetition {
            // Both factors are in their ranges: the product fits, that with `every` may not.
            guard (1...Self.timesMax).contains(count),
                case let length = every.times(Int64(frames.count) * count),
                length <= Self.durationMax
            else { return nil }
            duration = length
        }
        self.frames = frames
        self.every = every
        self.repetition = repetition
        self.duration = duration
    }

    /// The frame after `elapsed` of the clip's clock; the last one for ever after a last
    /// repetition.
    package func index(at elapsed: Span) -> Int {
        let step = max(0, elapsed.nanoseconds / every.nanoseconds)
        if case .times(let count) = repetition, step >= Int64(frames.count) * count {
            return frames.count - 1
        }
        return Int(step % Int64(frames.count))
    }
}
