package import TomboloJSON

/// A flip-book: frames shown in turn, one for each `every`. Its frames are computed from the time,
/// never queued.
package struct Flipbook: Hashable, Sendable {
    /// How often it plays.
    package enum Repetition: Hashable, Sendable {
        case forever
        /// At least once.
        case times(Int64)
    }

    /// 2 to `framesMax` frames.
    package let frames: [JSON]
    package let every: Span
    package let repetition: Repetition
    /// Index of the first frame; nil if the producer did not give one.
    package private(set) var startAt: Int?
    /// The version of the loop that it continues; nil: it begins anew. Not stored: only a phone
    /// that has followed that loop continues from its own frame.
    private(set) var goesOnFrom: Int64?
    /// How long it plays, at most `durationMax`; nil: for ever.
    package let duration: Span?

    package static let framesMax = 256
    package static let timesMax: Int64 = 1_000_000
    /// From faster than any display to one frame an hour.
    package static let everyRange = Span.milliseconds(10)...Span.hours(1)
    /// A hundred years; the range of `Span` ends soon after that.
    package static let durationMax = Span.hours(876_000)

    /// Nil if a number is outside its range, or if it would play longer than `durationMax`.
    package init?(
        frames: [JSON], every: Span, repetition: Repetition = .forever, startAt: Int? = nil
    ) {
        guard (2...Self.framesMax).contains(frames.count), Self.everyRange.contains(every),
            startAt.map(frames.indices.contains) ?? true
        else { return nil }
        var duration: Span?
        if case .times(let count) = repetition {
            // Both factors are in range, so this product fits; the product with `every` may not.
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

    /// The index of the frame after `elapsed` of the clip's clock; after the last repetition, of
    /// the last frame.
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

    /// The loop as a continuation of another one at its present frame, if both have the same
    /// frames, play for ever, and the producer gave no first frame: only the speed changes.
    /// Otherwise the loop itself.
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
