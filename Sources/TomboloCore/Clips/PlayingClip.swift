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
    package func elapsed(at instant: Instant) -> Span { max(.zero, instant - startedAt) }

    /// Whether a last repetition has ended; one that loops never is.
    package func isOver(at instant: Instant) -> Bool {
        clip.duration.map { elapsed(at: instant) >= $0 } ?? false
    }
}
