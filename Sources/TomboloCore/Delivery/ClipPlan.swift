/// The cost and the frame rate of a clip, computed before it plays.
package struct ClipPlan: Hashable, Sendable {
    package var budgetClass: BudgetClass
    /// How its frames become pushes; never `auto`.
    package var fit: Clip.Fit
    package var askedFramesPerSecond: Double
    package var grantedFramesPerSecond: Double
    /// Pushes until the end; for a loop, in an hour.
    package var pushes: Int64
    /// The largest payload among its frames.
    package var payloadBytes: Int
    /// Frames at priority 5 are best effort: Apple may group, delay or drop them.
    package var bestEffort: Bool

    /// - Parameters:
    ///   - grant: the slowest destination's grant.
    ///   - intervalMax: above this interval only the poster frame is sent.
    init(
        _ clip: Clip, fit: Clip.Fit, _ grant: GrantInForce, intervalMax: Span, payloadBytes: Int
    ) {
        let interval = clip.step(granted: grant.grant.frameInterval, fit: fit)
        budgetClass = grant.budgetClass
        self.fit = fit
        self.payloadBytes = payloadBytes
        askedFramesPerSecond = 1 / clip.every.seconds
        guard fit != .bundle else {
            // The app plays it; a clip that plays once gets its last value in another push.
            grantedFramesPerSecond = askedFramesPerSecond
            pushes = clip.duration == nil ? 1 : 2
            bestEffort = false
            return
        }
        let isPoster = grant.grant.frameInterval > intervalMax
        grantedFramesPerSecond = isPoster ? 0 : 1 / interval.seconds
        pushes =
            isPoster
            ? (clip.duration ?? .zero) > .zero ? 2 : 1
            : Self.pushes(of: clip, each: interval, fit)
        bestEffort = grant.grant.perHour != nil
    }

    /// Number of pushes of a clip that is sampled at an interval.
    private static func pushes(of clip: Clip, each interval: Span, _ fit: Clip.Fit) -> Int64 {
        let step = max(1, interval.nanoseconds)
        guard let length = clip.duration?.nanoseconds else {
            return (Span.hours(1).nanoseconds + step - 1) / step + 1
        }
        guard length > 0 else { return 1 }
        // Samples before the last value; one directly before it is left out.
        let samples = max(0, length - step / 2) / step + 1
        // A keyframe contains the end of its part, and a flip-book's last frame is requested one
        // interval before its end: without slowing down, the last value is a sample already.
        if fit == .keyframes { return samples }
        if case .flipbook = clip.motion, interval == clip.every { return samples }
        return samples + 1
    }
}
