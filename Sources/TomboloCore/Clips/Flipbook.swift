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
    /// Which frame comes first; nil: the producer did not say.
    package private(set) var startAt: Int?
    /// The version of the loop that it goes on from; nil: it begins anew. It is not written: only a
    /// phone that has followed that loop goes on from its own frame.
    private(set) var goesOnFrom: Int64?
    /// How long it plays, at most `durationMax`; nil for ever.
    package let duration: Span?

    package static let framesMax = 256
    package static let timesMax: Int64 = 1_000_000
    /// Faster than a display changes is no animation.
    package static let everyRange = Span.milliseconds(10)...Span.hours(1)
    /// A hundred years: what is longer plays for ever, and the range of `Span` ends soon after.
    package static let durationMax = Span.hours(876_000)

    /// Nil where a number is outside its range, or all of it would play longer than `durationMax`.
    package init?(
        frames: [JSON], every: Span, repetition: Repetition = .forever, startAt: Int? = nil
    ) {
        guard (2...Self.framesMax).contains(frames.count), Self.everyRange.contains(every),
            startAt.map(frames.indices.contains) ?? true
        else { return nil }
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
        self.startAt = startAt
        self.duration = duration
    }

    /// The frame after `elapsed` of the clip's clock; the last one for ever after a last
    /// repetition.
    package func index(at elapsed: Span) -> Int {
        var step = max(0, elapsed.nanoseconds / every.nanoseconds)
        if case .times(let count) = repetition {
            step = min(step, Int64(frames.count) * count - 1)
        }
        return Int((step + Int64(startAt ?? 0)) % Int64(frames.count))
    }

    /// The frames in the order in which they are shown.
    var framesInTurn: [JSON] {
        let first = startAt ?? 0
        return Array(frames[first...] + frames[..<first])
    }

    /// The same loop as it goes on from another one that is at a frame, where both have the same
    /// frames and play for ever, and the producer did not say where to begin: only its speed
    /// changes. Itself otherwise.
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
