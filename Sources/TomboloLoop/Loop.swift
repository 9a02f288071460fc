/// One thread that runs jobs and timers: the only source of monotonic time, order and waiting.
///
/// `EpollLoop` is the real one; tests have a virtual one, whose time passes only when nothing is
/// left to do. As a `SerialExecutor` it is the home of actors (`nonisolated let unownedExecutor`),
/// as a `TaskExecutor` that of tasks that prefer it. Only `enqueue` may be called from another
/// thread; all else is for the loop's own thread, and `checkIsolated()` says so.
package protocol Loop: SerialExecutor, TaskExecutor {
    /// Read once for each turn: everything that happens in one turn happens at one moment.
    var now: MonotonicInstant { get }

    /// Fires `target` once at `at` or as soon after it as the loop gets to it; never before. Timers
    /// of one moment fire in the order in which they were scheduled. The loop holds `target` until
    /// then.
    func schedule(at: MonotonicInstant, _ target: any TimerTarget) -> TimerID

    /// The timer does not fire any more. Without effect if it has fired, or for `TimerID()`.
    func cancel(_ id: TimerID)

    /// Calls `target` once when the jobs of this turn are done, before the loop waits again: the
    /// place to write what the turn has gathered. A call from within such a call counts for the
    /// next turn.
    func atEndOfTurn(_ target: any TurnTarget)

    /// Whether its last turn ended before all jobs had run: what comes now waits behind them.
    var isBehind: Bool { get }
}

/// What a timer wakes. An object, so that arming a timer makes no closure.
package protocol TimerTarget: AnyObject {
    /// On the loop.
    func timerFired()
}

/// What is called at the end of a turn.
package protocol TurnTarget: AnyObject {
    /// On the loop.
    func turnEnded()
}

/// A timer that was scheduled. `TimerID()` is none.
package struct TimerID: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32

    package init() {
        slot = .max
        generation = 0
    }

    init(slot: UInt32, generation: UInt32) {
        self.slot = slot
        self.generation = generation
    }
}

extension Loop {
    /// A loop without turns of its own is never behind.
    package var isBehind: Bool { false }

    /// A loop without turns of its own (a virtual one): a timer of this very moment.
    package func atEndOfTurn(_ target: any TurnTarget) {
        _ = schedule(at: now, TurnTimer(target))
    }
}

private final class TurnTimer: TimerTarget {
    private let target: any TurnTarget

    init(_ target: any TurnTarget) { self.target = target }

    func timerFired() { target.turnEnded() }
}
