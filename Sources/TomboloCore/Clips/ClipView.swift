import TomboloJSON

/// A clip as the API's answers show it.
package struct ClipView: Sendable {
    package var name: String
    package var frames: Int
    package var every: Span
    package var path: String
    package var playing: Bool
}

extension ClipView {
    /// Describes the clip at an instant of the wall clock.
    package init(_ playing: PlayingClip, at instant: Instant) {
        name = playing.name
        frames = Int(clamping: playing.clip.frameCount)
        every = playing.clip.every
        path = playing.clip.path.description
        self.playing = !playing.isOver(at: instant)
    }
}
