/// One thread that runs jobs and timers. It is the only source of monotonic time, of order and of
/// waiting.
///
/// `EpollLoop` is the real one. Tests use a virtual one, whose time passes only when nothing is
/// left to do. It runs actors as their `SerialExecutor` (`nonisolated let unownedExecutor`) and
/// tasks as their `TaskExecutor`. Only `enqueue` may be called from another thread; all other calls
/// must come from the loop's own thread, which `checkIsolated()` enforces.
package protocol Loop: SerialExecutor, TaskExecutor {
    /// The time, read once per turn: everything in one turn happens at the same instant.
    var now: MonotonicInstant { get }

    /// Fires `target` once, at `at` or as soon afterwards as the loop can, never before. Timers of
    /// the same instant fire in the order in which they were scheduled. The loop retains `target`
    /// until then.
    func schedule(at: MonotonicInstant, _ target: any TimerTarget) -> TimerID

    /// Cancels a timer. Has no effect if it has fired, or for `TimerID()`.
    func cancel(_ id: TimerID)

    /// Calls `target` once after the jobs of this turn, before the loop waits again: the place to
    /// write collected output. A call from within such a call counts for the next turn.
    func atEndOfTurn(_ target: any TurnTarget)

    /// True if the last turn ended before all jobs had run. New jobs wait behind them.
    var isBehind: Bool { get }
}

/// Target of a timer. It is an object, so that arming a timer allocates no closure.
package protocol TimerTarget: AnyObject {
    /// Called on the loop.
    func timerFired()
}

/// Target of an end-of-turn call.
package protocol TurnTarget: AnyObject {
    /// Called on the loop.
    func turnEnded()
}

/// Id of a scheduled timer. `TimerID()` is no timer.
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
    /// A loop without turns is never behind.
    package var isBehind: Bool { false }

    /// For a loop without turns (a virtual one): schedules a timer for now.
    package func atEndOfTurn(_ target: any TurnTarget) {
        _ = schedule(at: now, TurnTimer(target))
    }
}

private final class TurnTimer: TimerTarget {
    private let target: any TurnTarget

    init(_ target: any TurnTarget) { self.target = target }

    func timerFired() { target.turnEnded() }
}
