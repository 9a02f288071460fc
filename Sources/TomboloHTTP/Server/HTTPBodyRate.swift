/// How long a handler still waits for the next bytes of a body. Received bytes earn credit and
/// waiting spends it. Pure. Time counts only while a handler waits, because a slow handler is not
/// the peer's fault.
package struct HTTPBodyRate {
    private var credit: Duration
    private let creditMax: Duration
    private let bytesPerSecond: Int

    /// Starts with the credit `limits.bodyGrace`.
    package init(_ limits: HTTPServerLimits) {
        credit = limits.bodyGrace
        creditMax = limits.bodyPauseMax
        bytesPerSecond = limits.bodyBytesPerSecondMin
    }

    /// How long a wait that begins now may last.
    package var patience: Duration { max(credit, .zero) }

    /// Spends credit for time in which a handler waited.
    package mutating func waited(_ time: Duration) { credit -= time }

    package mutating func received(_ bytes: Int) {
        // Capped at one hour, so that a large piece cannot overflow the duration.
        let seconds = min(Double(bytes) / Double(bytesPerSecond), 3600)
        credit = min(credit + .seconds(seconds), creditMax)
    }
}
