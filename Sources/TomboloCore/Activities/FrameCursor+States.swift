import TomboloJSON

extension FrameCursor {
    /// The state that a push shows now; and the same with what an app needs that plays a bundle or
    /// moves between keyframes, nil where that is nothing.
    func states(of projection: Projection, at wall: Instant) -> (plain: JSON, full: JSON?) {
        let plain = frame(at: wall).map { projection.state(showing: $0) } ?? projection.state
        let full =
            bundleBegan(at: wall).flatMap { clip.bundled(into: plain, began: $0) }
            ?? keyframeReached(at: wall).flatMap { clip.keyframed(into: plain, reached: $0) }
        return (plain, full)
    }
}
