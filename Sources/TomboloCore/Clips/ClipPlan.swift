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
        let length = clip.duration ?? .hours(1)
        pushes =
            isPoster
            ? 1 : (length.nanoseconds + interval.nanoseconds - 1) / interval.nanoseconds + 1
        if case .flipbook = clip.motion, clip.duration != nil, !isPoster {
            // Its last frame begins one interval before its end.
            pushes = max(1, length.nanoseconds / interval.nanoseconds)
        }
        if fit == .keyframes, !isPoster {
            // One for each part: it tells the part's end.
            pushes = max(1, (length.nanoseconds + interval.nanoseconds / 2) / interval.nanoseconds)
        }
        bestEffort = grant.grant.perHour != nil
    }
}
