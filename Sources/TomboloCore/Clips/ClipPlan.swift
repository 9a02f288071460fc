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
    init(_ clip: Flipbook, _ grant: GrantInForce, intervalMax: Span, payloadBytes: Int) {
        let interval = max(clip.every, grant.grant.frameInterval)
        budgetClass = grant.budgetClass
        askedFramesPerSecond = 1 / clip.every.seconds
        let isPoster = grant.grant.frameInterval > intervalMax
        grantedFramesPerSecond = isPoster ? 0 : 1 / interval.seconds
        let length = clip.duration ?? .hours(1)
        pushes = isPoster ? 1 : length.nanoseconds / interval.nanoseconds + 1
        self.payloadBytes = payloadBytes
        bestEffort = grant.grant.perHour != nil
    }
}
