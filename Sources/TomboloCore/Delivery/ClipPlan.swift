/// The cost and the frame rate of a clip, computed before it plays.
package struct ClipPlan: Hashable, Sendable {
    package var budgetClass: BudgetClass
    /// How its frames become pushes; never `auto`.
    package var fit: Clip.Fit
    package var askedFramesPerSecond: Double
    package var grantedFramesPerSecond: Double
    /// Number of pushes from start to end; for an endless loop, in an hour.
    package var pushes: Int64
    /// Size of the largest payload among the clip's frames.
    package var payloadBytes: Int
    /// Maximum size of a payload on the activity's way.
    package var payloadBytesMax: Int
    /// True if Apple may group, delay or drop frames, because they have priority 5.
    package var bestEffort: Bool

    /// - Parameters:
    ///   - grant: the slowest destination's grant.
    ///   - intervalMax: if the grant's interval is longer, only a poster frame is sent.
    init(
        _ clip: Clip, fit: Clip.Fit, _ grant: GrantInForce, intervalMax: Span, payloadBytes: Int,
        payloadBytesMax: Int = Payload.bytesMax
    ) {
        let interval = clip.step(granted: grant.grant.frameInterval, fit: fit)
        budgetClass = grant.budgetClass
        self.fit = fit
        self.payloadBytes = payloadBytes
        self.payloadBytesMax = payloadBytesMax
        askedFramesPerSecond = 1 / clip.every.seconds
        guard fit != .bundle else {
            // The app plays the bundle. A clip that plays once gets its last value in a second
            // push.
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

    /// Number of pushes for a clip with one sample in each `interval`.
    private static func pushes(of clip: Clip, each interval: Span, _ fit: Clip.Fit) -> Int64 {
        let step = max(1, interval.nanoseconds)
        guard let length = clip.duration?.nanoseconds else {
            return (Span.hours(1).nanoseconds + step - 1) / step + 1
        }
        guard length > 0 else { return 1 }
        // Samples before the last value. A sample just before the last value is left out.
        let samples = max(0, length - step / 2) / step + 1
        // The last sample shows the end already if it is a keyframe, because that carries the end
        // of its part, or if it is the last frame of a flip-book at full speed. Else the end is one
        // more.
        if fit == .keyframes { return samples }
        if case .flipbook = clip.motion, interval == clip.every { return samples }
        return samples + 1
    }
}
