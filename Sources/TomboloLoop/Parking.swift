import Synchronization

/// Why a wait ended.
package enum Wake: Hashable, Sendable { case signal, deadline, cancelled }

/// The place where one task waits, on its loop, for a signal, a deadline or its cancellation. Every
/// other wait is built from this one.
///
/// A signal that finds nobody waiting is kept as a permit for the next wait (one, however many
/// signals), so that "look, then wait" loses nothing: look again in a loop. A wait that ends by
/// deadline or cancellation leaves a permit for the next one. `unpark()` and cancellation may come
/// from any thread.
package final class Parking: TimerTarget, Sendable {
    private struct State {
        var waiter: UnsafeContinuation<Wake, Never>?
        var hasPermit = false
    }

    package let loop: any Loop
    private let state = Mutex(State())

    package init(_ loop: any Loop) { self.loop = loop }

    /// Waits; on the loop. A deadline that has passed lets a permit go first. One task at a time.
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

    /// Ends the wait that is under way, or the next one at once. From any thread.
    package func unpark() {
        let waiter = state.withLock { state in
            defer { state.waiter = nil }
            if state.waiter == nil { state.hasPermit = true }
            return state.waiter
        }
        waiter?.resume(returning: .signal)
    }

    package func timerFired() { wakeUp(.deadline) }

    /// Whether a task waits here now.
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
            // The handler ran already if the task was cancelled before; it will not run again.
            // Cancellation after this look finds the waiter, for both stand under the lock.
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
