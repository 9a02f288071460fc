/// The deadline of a wait has passed.
package struct DeadlineExceeded: Error, Hashable, CustomStringConvertible {
    package init() {}
    package var description: String { "the deadline came first" }
}

extension Loop {
    /// Returns at `instant`, or soon after it if the loop is busy. Throws `CancellationError` if
    /// the task is cancelled.
    package func sleep(until instant: MonotonicInstant) async throws {
        if await Parking(self).park(until: instant) == .cancelled { throw CancellationError() }
    }

    /// Like `sleep(until:)`, counted from the time of this turn.
    package func sleep(for duration: Duration) async throws {
        try await sleep(until: now + duration)
    }

    /// Runs `body` as a child task on this loop, and returns its result. The caller may be
    /// anywhere. (With `withTaskExecutorPreference`, `body` would begin on the caller's executor.)
    package func perform<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(executorPreference: self) { try await body() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }

    /// Runs `operation` as a child task and cancels it at `deadline`. In that case it throws
    /// `DeadlineExceeded`, but only after the operation has ended, even if that ignores the
    /// cancellation.
    package func withDeadline<Value: Sendable>(
        _ deadline: MonotonicInstant, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask(executorPreference: self) { try await operation() }
            group.addTask(executorPreference: self) {
                try await self.sleep(until: deadline)
                return nil
            }
            defer { group.cancelAll() }
            guard let first = try await group.next(), let value = first else {
                throw DeadlineExceeded()
            }
            return value
        }
    }
}
