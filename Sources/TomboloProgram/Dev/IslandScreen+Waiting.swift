import TomboloCore

extension IslandScreen {
    /// Why a change waits, in words that fit below an island. Nil if no change waits.
    static func waiting(_ decision: Decision?, now: Instant) -> String? {
        guard case .deferred(let until, let reason) = decision else { return nil }
        guard let until, until > now, let text = timed(reason) else { return untimed(reason) }
        let seconds = ((until - now).seconds * 10).rounded(.up) / 10
        return seconds < 1_000 ? "\(text) \(seconds) s" : untimed(reason)
    }

    /// The words before the remaining time; nil if the wait has no known end.
    private static func timed(_ reason: WaitReason) -> String? {
        switch reason {
        case .spacing, .lowPrioritySpacing, .bucket: "next push in"
        case .deviceSpacing, .deviceLowPrioritySpacing, .deviceBucket: "phone's next in"
        case .startBudget: "next start in"
        case .tokenBackOff: "Apple says wait"
        case .noAnswer: "no answer, wait"
        case .nextSecond: "next second in"
        case .upstreamClosed: "way closed for"
        case .appleError, .tokenDoubted, .timestampAhead: untimed(reason)
        default: nil
        }
    }

    private static func untimed(_ reason: WaitReason) -> String {
        switch reason {
        case .spacing, .lowPrioritySpacing, .bucket: "waits for its budget"
        case .inFlight: "a push is on its way"
        case .streamLimit: "waits for a stream"
        case .reserving: "its budget is written"
        case .startToken: "waits for start token"
        case .updateToken: "waits for update token"
        case .unknownStart: "start: outcome unknown"
        case .tokenBackOff: "Apple says: wait"
        case .appleError: "Apple is unwell"
        case .noAnswer: "Apple did not answer"
        case .tokenDoubted: "token is doubted"
        case .upstreamClosed: "way to Apple is closed"
        case .timestampAhead: "clock is behind"
        case .nextSecond: "waits for next second"
        case .paused: "paused"
        case .deviceSpacing, .deviceLowPrioritySpacing, .deviceBucket: "phone's budget is spent"
        case .startBudget: "start budget is spent"
        case .stranded: "new card has no token"
        case .channel: "waits for its channel"
        }
    }
}
