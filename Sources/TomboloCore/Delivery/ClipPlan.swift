/// What a clip will cost and show, told before it plays.
package struct ClipPlan: Hashable, Sendable {
    package var budgetClass: BudgetClass
    /// How its frames become pushes; never `auto`.
    package var fit: Clip.Fit
    package var askedFramesPerSecond: Double
    package var grantedFramesPerSecond: Double
    /// Pushes until its end, or in an hour where it has none.
    package var pushes: Int64
    /// The largest payload among its frames.
    package var payloadBytes: Int
    /// Frames at priority 5 are best effort: Apple may group, delay or drop them.
    package var bestEffort: Bool

    /// - Parameters:
    ///   - grant: of the slowest destination.
    ///   - intervalMax: slower than that only the poster frame is sent.
    init(
        _ clip: Clip, fit: Clip.Fit, _ grant: GrantInForce, intervalMax: Span, payloadBytes: Int
    ) {
        let interval = clip.step(granted: grant.grant.frameInterval, fit: fit)
        budgetClass = grant.budgetClass
        self.fit = fit
        self.payloadBytes = payloadBytes
        askedFramesPerSecond = 1 / clip.every.seconds
        guard fit != .bundle else {
            // The app plays it; what plays once gets its last value besides.
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

    /// How many a clip comes to that is sampled at an interval.
    private static func pushes(of clip: Clip, each interval: Span, _ fit: Clip.Fit) -> Int64 {
        let step = max(1, interval.nanoseconds)
        guard let length = clip.duration?.nanoseconds else {
            return (Span.hours(1).nanoseconds + step - 1) / step + 1
        }
        guard length > 0 else { return 1 }
        // Samples before the last value: one that would come right before it is left out.
        let samples = max(0, length - step / 2) / step + 1
        // A keyframe tells the end of its part, and a flip-book's last frame is asked for one
        // interval before its end: where none is left out, it is a sample.
        if fit == .keyframes { return samples }
        if case .flipbook = clip.motion, interval == clip.every { return samples }
        return samples + 1
    }
}
