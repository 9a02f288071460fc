import TomboloJSON

/// A clip that an event has started and no event has stopped yet.
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

    /// Starts a clip with an event.
    package init(version: Int64, startedAt: Instant, clip: Clip) {
        self.version = version
        self.startedAt = startedAt
        shared = Shared(clip)
    }

    package var clip: Clip { _read { yield shared.clip } }

    func value(at elapsed: Span) -> JSON { shared.clip.value(at: elapsed) }

    var isFlipbook: Bool { shared.clip.isFlipbook }

    package var name: String { "clip_\(version)" }

    /// The clip's time at an instant of the wall clock, if the clip never stops; zero before its
    /// start.
    ///
    /// If the start is far ahead, the wall clock was set back: then a clip that plays once is over.
    package func elapsed(at instant: Instant) -> Span {
        let isSetBack = startedAt > instant + RelayClock.leadMax
        return isSetBack ? clip.duration ?? .zero : max(.zero, instant - startedAt)
    }

    /// The clip with another start, if the wall clock was set back and the start is far ahead of
    /// it.
    ///
    /// - Parameter elapsed: the clip's present time; nil: `elapsed(at:)`.
    func placed(at wall: Instant, elapsed: Span? = nil) -> PlayingClip {
        guard startedAt > wall + RelayClock.leadMax else { return self }
        var clip = self
        clip.startedAt = wall - (elapsed ?? self.elapsed(at: wall))
        return clip
    }

    /// True if the clip has played to its end; never for a loop that plays for ever.
    package func isOver(at instant: Instant) -> Bool {
        clip.duration.map { elapsed(at: instant) >= $0 } ?? false
    }
}
