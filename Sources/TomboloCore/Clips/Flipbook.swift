package import TomboloJSON

/// A flip-book: frames shown in turn, each for `every`. The frame is computed from the time; frames
/// are never queued.
package struct Flipbook: Hashable, Sendable {
    /// How many times all frames are shown.
    package enum Repetition: Hashable, Sendable {
        case forever
        /// This number of times, from 1 to `timesMax`.
        case times(Int64)
    }

    /// 2 to `framesMax` frames.
    package let frames: [JSON]
    package let every: Span
    package let repetition: Repetition
    /// Index of the first frame; nil if the producer did not give one.
    package private(set) var startAt: Int?
    /// The version of the loop that this one continues; nil: it begins again. It is not stored: it
    /// only matters to phones that were showing the old loop.
    private(set) var goesOnFrom: Int64?
    /// How long the flip-book plays, at most `durationMax`; nil: for ever.
    package let duration: Span?

    package static let framesMax = 256
    package static let timesMax: Int64 = 1_000_000
    /// From 10 ms, which no display shows, to one frame an hour.
    package static let everyRange = Span.milliseconds(10)...Span.hours(1)
    /// A hundred years. The range of `Span` ends at 292 years.
    package static let durationMax = Span.hours(876_000)

    /// Returns nil if a number is outside its range, or if the flip-book would play longer than
    /// `durationMax`.
    package init?(
        frames: [JSON], every: Span, repetition: Repetition = .forever, startAt: Int? = nil
    ) {
        guard (2...Self.framesMax).contains(frames.count), Self.everyRange.contains(every),
            startAt.map(frames.indices.contains) ?? true
        else { return nil }
        var duration: Span?
        if case .times(let count) = repetition {
            // The number of frames times `count` fits in 64 bits, because both are limited. The
            // product with `every` may not fit, but `times` clamps it.
            guard (1...Self.timesMax).contains(count),
                case let length = every.times(Int64(frames.count) * count),
                length <= Self.durationMax
            else { return nil }
            duration = length
        }
        self.frames = frames
        self.every = every
        self.repetition = repetition
        self.startAt = startAt
        self.duration = duration
    }

    /// The index of the frame after `elapsed` of the clip's clock; after the last repetition, that
    /// of the last frame.
    package func index(at elapsed: Span) -> Int {
        var step = max(0, elapsed.nanoseconds / every.nanoseconds)
        if case .times(let count) = repetition {
            step = min(step, Int64(frames.count) * count - 1)
        }
        return Int((step + Int64(startAt ?? 0)) % Int64(frames.count))
    }

    var framesInTurn: [JSON] {
        let first = startAt ?? 0
        return Array(frames[first...] + frames[..<first])
    }

    /// Continues the loop `other` at its present frame if both have the same frames and play for
    /// ever, and the producer gave no first frame: only the speed changes. Otherwise returns the
    /// loop unchanged.
    func goingOn(from other: Flipbook, _ version: Int64, at elapsed: Span) -> Flipbook {
        guard startAt == nil, repetition == .forever, other.repetition == .forever,
            frames == other.frames
        else { return self }
        var book = self
        book.startAt = other.index(at: elapsed)
        book.goesOnFrom = version
        return book
    }
}
