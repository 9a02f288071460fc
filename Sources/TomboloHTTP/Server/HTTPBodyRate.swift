/// How long a handler still waits for the next bytes of a body: credit that bytes earn and waiting
/// spends. Pure. Only time in which a handler waits is counted: a slow handler is not the peer's
/// fault.
package struct HTTPBodyRate {
    private var credit: Duration
    private let creditMax: Duration
    private let bytesPerSecond: Int

    /// Begins with the grace that `limits` gives a body.
    package init(_ limits: HTTPServerLimits) {
        credit = limits.bodyGrace
        creditMax = limits.bodyPauseMax
        bytesPerSecond = limits.bodyBytesPerSecondMin
    }

    /// How long a wait that begins now may last.
    package var patience: Duration { max(credit, .zero) }

    /// Time has passed in which the body was waited for.
    package mutating func waited(_ time: Duration) { credit -= time }

    package mutating func received(_ bytes: Int) {
        // A second's worth at a time: no piece is large enough to overflow, and more earns nothing.
        let seconds = min(Double(bytes) / Double(bytesPerSecond), 3600)
        credit = min(credit + .seconds(seconds), creditMax)
    }
}
