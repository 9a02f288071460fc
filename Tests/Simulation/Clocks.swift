import TomboloCore
import TomboloLoop
import TomboloRelay

/// The machine's wall clock, which people and time servers step.
final class VirtualWallClock: WallClock, @unchecked Sendable {
    // Sendable: used on the loop's thread only.
    static let epoch = Instant(seconds: 1_800_000_000)

    private let loop: any Loop
    private(set) var offset = Span.zero

    init(_ loop: any Loop) { self.loop = loop }

    /// What the machine believes.
    func now() -> Instant { trueNow() + offset }

    /// What Apple and the phones believe.
    func trueNow() -> Instant { Self.epoch + Span(nanoseconds: loop.now.nanoseconds) }

    let boot = "the only one"

    func step(to offset: Span) { self.offset = offset }
}

/// A call at a moment.
final class Call: TimerTarget {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    func timerFired() { body() }
}
