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

    /// - Parameter grant: of the slowest destination.
    init(_ clip: Flipbook, _ grant: GrantInForce, payloadBytes: Int) {
        let interval = max(clip.every, grant.grant.frameInterval)
        budgetClass = grant.budgetClass
        askedFramesPerSecond = 1 / clip.every.seconds
        grantedFramesPerSecond = 1 / interval.seconds
        let length = clip.duration ?? .hours(1)
        pushes = length.nanoseconds / interval.nanoseconds + 1
        self.payloadBytes = payloadBytes
        bestEffort = grant.grant.perHour != nil
    }
}
