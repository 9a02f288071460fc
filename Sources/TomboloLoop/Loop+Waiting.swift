/// A wait had a deadline, and it came first.
package struct DeadlineExceeded: Error, Hashable, CustomStringConvertible {
    package init() {}
    package var description: String { "the deadline came first" }
}

extension Loop {
    /// Returns at `instant` or as soon after it as the loop gets to it. Throws `CancellationError`.
    package func sleep(until instant: MonotonicInstant) async throws {
        if await Parking(self).park(until: instant) == .cancelled { throw CancellationError() }
    }

    /// As `sleep(until:)`, counted from this turn.
    package func sleep(for duration: Duration) async throws {
        try await sleep(until: now + duration)
    }

    /// Runs `body` as a child task on this loop, from wherever the caller stands, and answers what
    /// it answers. `withTaskExecutorPreference` does not do that: its body begins where the caller
    /// is.
    package func perform<Value: Sendable>(
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value.self) { group in
            group.addTask(executorPreference: self) { try await body() }
            guard let value = try await group.next() else { throw CancellationError() }
            return value
        }
    }

    /// Runs `operation` as a child task and cancels it at `deadline`; then throws
    /// `DeadlineExceeded`, once the operation has ended. An operation that does not heed
    /// cancellation is waited for.
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
