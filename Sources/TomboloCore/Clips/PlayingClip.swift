import TomboloJSON

/// A clip from the event that began it until one that stops it.
package struct PlayingClip: Sendable {
    /// The version that began it; its name is `clip_<version>`.
    package var version: Int64
    package var startedAt: Instant
    /// Each destination that shows it has one, and looks at it with each frame.
    private let shared: Shared

    private final class Shared: Sendable {
        let clip: Clip
        init(_ clip: Clip) { self.clip = clip }
    }

    /// One that begins with an event.
    package init(version: Int64, startedAt: Instant, clip: Clip) {
        self.version = version
        self.startedAt = startedAt
        shared = Shared(clip)
    }

    package var clip: Clip { _read { yield shared.clip } }

    /// The frame of an instant of the clip's time.
    func value(at elapsed: Span) -> JSON { shared.clip.value(at: elapsed) }

    /// Of frames that are shown in turn.
    var isFlipbook: Bool { shared.clip.isFlipbook }

    package var name: String { "clip_\(version)" }

    /// The time of the clip at an instant by the producer's clock; zero before its start.
    ///
    /// A start that lies far ahead is of a clock that was set back since: a clip that ends is over.
    package func elapsed(at instant: Instant) -> Span {
        let isSetBack = startedAt > instant + RelayClock.leadMax
        return isSetBack ? clip.duration ?? .zero : max(.zero, instant - startedAt)
    }

    /// The clip with a start that fits the clock, where that was set back since.
    ///
    /// - Parameter elapsed: its time now.
    func placed(at wall: Instant, elapsed: Span? = nil) -> PlayingClip {
        guard startedAt > wall + RelayClock.leadMax else { return self }
        var clip = self
        clip.startedAt = wall - (elapsed ?? self.elapsed(at: wall))
        return clip
    }

    /// Whether a last repetition has ended; one that loops never is.
    package func isOver(at instant: Instant) -> Bool {
        clip.duration.map { elapsed(at: instant) >= $0 } ?? false
    }
}
