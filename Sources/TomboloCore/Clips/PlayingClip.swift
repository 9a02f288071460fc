import TomboloJSON

/// A clip from the event that starts it to the event that stops it.
package struct PlayingClip: Sendable {
    /// The version that started the clip; its name is `clip_<version>`.
    package var version: Int64
    package var startedAt: Instant
    /// Shared, because each destination that shows the clip reads it at each frame.
    private let shared: Shared

    private final class Shared: Sendable {
        let clip: Clip
        init(_ clip: Clip) { self.clip = clip }
    }

    /// A clip that an event starts.
    package init(version: Int64, startedAt: Instant, clip: Clip) {
        self.version = version
        self.startedAt = startedAt
        shared = Shared(clip)
    }

    package var clip: Clip { _read { yield shared.clip } }

    /// The frame at a clip's time.
    func value(at elapsed: Span) -> JSON { shared.clip.value(at: elapsed) }

    /// True for a flip-book.
    var isFlipbook: Bool { shared.clip.isFlipbook }

    package var name: String { "clip_\(version)" }

    /// The clip's time at an instant by the producer's clock; zero before its start.
    ///
    /// If the start is far ahead, the clock was set back: a clip that plays once is over then.
    package func elapsed(at instant: Instant) -> Span {
        let isSetBack = startedAt > instant + RelayClock.leadMax
        return isSetBack ? clip.duration ?? .zero : max(.zero, instant - startedAt)
    }

    /// The clip with its start moved to fit a clock that was set back.
    ///
    /// - Parameter elapsed: the clip's present time.
    func placed(at wall: Instant, elapsed: Span? = nil) -> PlayingClip {
        guard startedAt > wall + RelayClock.leadMax else { return self }
        var clip = self
        clip.startedAt = wall - (elapsed ?? self.elapsed(at: wall))
        return clip
    }

    /// True if the last repetition has ended; never for a clip that loops.
    package func isOver(at instant: Instant) -> Bool {
        clip.duration.map { elapsed(at: instant) >= $0 } ?? false
    }
}
