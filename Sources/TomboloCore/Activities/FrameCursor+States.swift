import TomboloJSON

extension FrameCursor {
    /// `plain` is the state that a push shows now. `full` adds the data with which an app plays a
    /// bundle or animates between keyframes; nil if the clip has no such data.
    func states(of projection: Projection, at wall: Instant) -> (plain: JSON, full: JSON?) {
        let plain = frame(at: wall).map { projection.state(showing: $0) } ?? projection.state
        let full =
            bundleBegan(at: wall).flatMap { clip.bundled(into: plain, began: $0) }
            ?? keyframeReached(at: wall).flatMap { clip.keyframed(into: plain, reached: $0) }
        return (plain, full)
    }
}
