import TomboloCore
import TomboloLoop
import TomboloRelay

/// The machine's wall clock, which people and time servers step.
final class VirtualWallClock: WallClock, @unchecked Sendable {
    // Sendable: used on the loop's thread only.
    static let epoch = Instant(seconds: 1_800_000_000)

    private let loop: any Loop
    /// When the loop's time began.
    private let begin: Instant
    private(set) var offset = Span.zero
    /// The machine has slept for so long in all: its monotonic clock stood still meanwhile.
    private(set) var slept = Span.zero
    private var boots = 1

    init(_ loop: any Loop, begin: Instant = epoch) {
        self.loop = loop
        self.begin = begin
    }

    /// What the machine believes.
    func now() -> Instant { trueNow() + offset }

    /// What Apple and the phones believe.
    func trueNow() -> Instant { trueTime(loop.now) }

    /// The same of a moment since the machine last slept.
    func trueTime(_ instant: MonotonicInstant) -> Instant {
        begin + Span(nanoseconds: instant.nanoseconds) + slept
    }

    var boot: String { "boot \(boots)" }

    func step(to offset: Span) { self.offset = offset }

    /// Time goes on for everybody, but not for the machine.
    func sleep(_ span: Span) { slept = slept + span }

    /// From now on nobody can tell how long ago readings of the monotonic clock were taken.
    func reboot() { boots += 1 }
}

/// A call at a moment.
final class Call: TimerTarget {
    private let body: () -> Void

    init(_ body: @escaping () -> Void) { self.body = body }

    func timerFired() { body() }
}
