import Synchronization

/// Why a wait ended.
package enum Wake: Hashable, Sendable { case signal, deadline, cancelled }

/// Lets one task wait, on its loop, for a signal, a deadline or its cancellation. Every other wait
/// is built on it.
///
/// If no task waits, a signal is kept as a permit for the next wait (at most one permit). So "check
/// a condition, then wait" in a loop misses no signal. A wait that ends by deadline or cancellation
/// does not consume a permit. `unpark()` and cancellation may come from any thread.
package final class Parking: TimerTarget, Sendable {
    private struct State {
        var waiter: UnsafeContinuation<Wake, Never>?
        var hasPermit = false
    }

    package let loop: any Loop
    private let state = Mutex(State())

    package init(_ loop: any Loop) { self.loop = loop }

    /// Waits, on the loop. A permit takes precedence over a deadline that has passed. Only one task
    /// at a time.
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

    /// Ends the current wait, or else the next one at once. From any thread.
    package func unpark() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            if state.waiter == nil { state.hasPermit = true }
            return state.waiter
        }
        waiter?.resume(returning: .signal)
    }

    package func timerFired() { wakeUp(.deadline) }

    /// True if a task waits now.
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
            // The handler ran already if the task was cancelled before; it will not run again. A
            // later cancellation finds the waiter, because both hold the lock.
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
