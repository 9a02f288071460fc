/// One thread that runs jobs and timers. The only source of monotonic time, order and waiting.
///
/// `EpollLoop` is the real one. Tests use a virtual one: its time moves on only when no job is
/// left. It runs actors as their `SerialExecutor` (`nonisolated let unownedExecutor`) and tasks as
/// their `TaskExecutor`. Only `enqueue` may be called from another thread; all other calls must
/// come from the loop's own thread, which `checkIsolated()` enforces.
package protocol Loop: SerialExecutor, TaskExecutor {
    /// The time, read once per turn: everything in one turn happens at the same instant.
    var now: MonotonicInstant { get }

    /// Fires `target` once: at `at`, or soon after it if the loop is busy, but never before. Timers
    /// for the same instant fire in the order in which they were scheduled. The loop retains
    /// `target` until then.
    func schedule(at: MonotonicInstant, _ target: any TimerTarget) -> TimerID

    /// Cancels a timer. Has no effect if it has fired, or for `TimerID()`.
    func cancel(_ id: TimerID)

    /// Calls `target` once, after the jobs of this turn and before the loop waits again. This is
    /// the place to write collected output. If `target` asks for another call meanwhile, that call
    /// comes in the next turn.
    func atEndOfTurn(_ target: any TurnTarget)

    /// True if the last turn ended before all its jobs had run. New jobs must wait behind the rest.
    var isBehind: Bool { get }
}

/// Gets the call of a timer. It is an object and not a closure, so that setting a timer allocates
/// no memory.
package protocol TimerTarget: AnyObject {
    /// Called on the loop.
    func timerFired()
}

/// Gets the call at the end of a turn.
package protocol TurnTarget: AnyObject {
    /// Called on the loop.
    func turnEnded()
}

/// Id of a scheduled timer. `TimerID()` means no timer.
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
    /// This default is for loops that have no turns.
    package var isBehind: Bool { false }

    /// For loops that have no turns (the virtual one): it schedules a timer for now.
    package func atEndOfTurn(_ target: any TurnTarget) {
        _ = schedule(at: now, TurnTimer(target))
    }
}

private final class TurnTimer: TimerTarget {
    private let target: any TurnTarget

    init(_ target: any TurnTarget) { self.target = target }

    func timerFired() { target.turnEnded() }
}
