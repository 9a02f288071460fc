import Synchronization

/// Why a wait ended.
package enum Wake: Hashable, Sendable { case signal, deadline, cancelled }

/// Lets one task wait on its loop for a signal, a deadline or its cancellation. All other ways to
/// wait are built on it.
///
/// If no task waits, a signal is kept for the next wait (as a permit; there is at most one). So
/// code that checks a condition and then waits, in a loop, misses no signal. A wait that ends by
/// deadline or cancellation keeps the permit. `unpark()` and cancellation may come from any thread.
package final class Parking: TimerTarget, Sendable {
    private struct State {
        var waiter: UnsafeContinuation<Wake, Never>?
        var hasPermit = false
    }

    package let loop: any Loop
    private let state = Mutex(State())

    package init(_ loop: any Loop) { self.loop = loop }

    /// Waits. Must be called on the loop, by one task at a time. If there is a permit, the wait
    /// ends with `.signal` even if the deadline has passed.
    @discardableResult
    package func park(until deadline: MonotonicInstant? = nil) async -> Wake {
        var timer = TimerID()
        let wake = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                guard let wake = wait(continuation) else {
                    if let deadline { timer = loop.schedule(at: deadline, self) }
                    return
                }
                continuation.resume(returning: wake)
            }
        } onCancel: {
            wakeUp(.cancelled)
        }
        loop.cancel(timer)
        return wake
    }

    /// Signals: ends the current wait, or else the next one as soon as it begins. May be called
    /// from any thread.
    package func unpark() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            if state.waiter == nil { state.hasPermit = true }
            return state.waiter
        }
        waiter?.resume(returning: .signal)
    }

    package func timerFired() { wakeUp(.deadline) }

    /// True if a task is waiting now.
    package var isOccupied: Bool { state.withLock { $0.waiter != nil } }

    private func wakeUp(_ wake: Wake) {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume(returning: wake)
    }

    private func wait(_ continuation: UnsafeContinuation<Wake, Never>) -> Wake? {
        state.withLock { state in
            precondition(state.waiter == nil, "two tasks wait in one place")
            // If the task was cancelled before this, the handler has run already. If it is
            // cancelled later, the handler finds the waiter, because both hold the lock.
            if Task.isCancelled { return .cancelled }
            if state.hasPermit {
                state.hasPermit = false
                return .signal
            }
            state.waiter = continuation
            return nil
        }
    }
}
