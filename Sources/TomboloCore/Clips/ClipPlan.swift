/// What a clip will cost and show, told before it plays.
package struct ClipPlan: Hashable, Sendable {
    package var budgetClass: BudgetClass
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
    init(_ clip: Clip, _ grant: GrantInForce, intervalMax: Span, payloadBytes: Int) {
        let interval = clip.step(granted: grant.grant.frameInterval)
        budgetClass = grant.budgetClass
        askedFramesPerSecond = 1 / clip.every.seconds
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
        self.payloadBytes = payloadBytes
        bestEffort = grant.grant.perHour != nil
    }
}
