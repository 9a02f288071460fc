package import TomboloLoop

/// How many streams a peer may still abandon: a token bucket. Pure. It counts a reset stream no
/// matter which side sent RST_STREAM, because a peer can make a server send it (CVE-2025-8671).
package struct HTTP2ResetAllowance {
    private var tokens: Double
    private let burst: Double
    private let perSecond: Double
    private var countedAt: MonotonicInstant

    /// Starts full.
    package init(_ limits: HTTPServerLimits, now: MonotonicInstant) {
        burst = Double(limits.resetsBurst)
        perSecond = Double(limits.resetsPerSecond)
        tokens = burst
        countedAt = now
    }

    /// Counts one reset stream. Returns false if the peer has exceeded its allowance.
    package mutating func take(now: MonotonicInstant) -> Bool {
        let seconds = Double((now - countedAt).nanoseconds) / 1e9
        countedAt = now
        tokens = min(burst, tokens + seconds * perSecond)
        guard tokens >= 1 else { return false }
        tokens -= 1
        return true
    }
}
