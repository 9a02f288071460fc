import Synchronization
package import TomboloCore
package import TomboloEventLog

/// A log that forgets when the process ends, as a twin for tests.
///
/// It keeps the whole contract, and does so on the caller's thread: no call ever suspends, so it
/// behaves the same under any executor, a virtual one too. Everything is durable when `append`
/// returns; `crashed()` is what a crash would leave behind. It costs memory for all of history.
package final class InMemoryEventLog: EventLog {
    private struct State {
        var stored = StoredLog()
        var isClosed = false
    }

    private let state: Mutex<State>

    package init() { state = Mutex(State()) }

    private init(_ stored: StoredLog) { state = Mutex(State(stored: stored)) }

    /// A new log with what is durable in this one: the machine after its power came back. This one
    /// keeps running and may be dropped; neither sees what the other appends.
    package func crashed() -> InMemoryEventLog {
        InMemoryEventLog(state.withLock { $0.stored })
    }

    package func append(_ batch: AppendBatch) async throws(EventLogError) -> AppendReceipt {
        try reach { state throws(EventLogError) in
            return try state.stored.append(batch)
        }
    }

    package func recover(
        idempotencySince: Instant
    ) async throws(EventLogError) -> RecoveredLog {
        try reach { state throws(EventLogError) in
            state.stored.recover(idempotencySince: idempotencySince)
        }
    }

    package func events(_ query: EventQuery) async throws(EventLogError) -> EventPage {
        try reach { state throws(EventLogError) in state.stored.events(query) }
    }

    package func event(
        seq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? {
        try reach { state throws(EventLogError) in state.stored.event(seq: seq, tenant: tenant) }
    }

    package func event(
        tenantSeq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? {
        try reach { state throws(EventLogError) in
            state.stored.event(tenantSeq: tenantSeq, tenant: tenant)
        }
    }

    package func retired(
        named keys: [ActivityKey]
    ) async throws(EventLogError) -> [RecoveredHead] {
        try reach { state throws(EventLogError) in state.stored.retired(named: keys) }
    }

    package func retired(
        _ activity: ActivityNumber, tenant: TenantID
    ) async throws(EventLogError) -> RecoveredHead? {
        try reach { state throws(EventLogError) in
            state.stored.retired(activity, tenant: tenant)
        }
    }

    package func history(
        after seq: Int64, limit: Int
    ) async throws(EventLogError) -> [RecordedEvent] {
        try reach { state throws(EventLogError) in
            state.stored.history(after: seq, limit: limit)
        }
    }

    package func facts(_ query: FactQuery) async throws(EventLogError) -> FactPage {
        try reach { state throws(EventLogError) in state.stored.facts(query) }
    }

    package func erase(_ erasure: LogErasure) async throws(EventLogError) -> LogErased {
        try await erase(erasure, first: 1)
    }

    /// Erases as a log does whose history before event `first` is cut.
    package func erase(
        _ erasure: LogErasure, first: Int64
    ) async throws(EventLogError) -> LogErased {
        try reach { state throws(EventLogError) in state.stored.erase(erasure, first: first) }
    }

    package func close() async { state.withLock { $0.isClosed = true } }

    private func reach<Answer: Sendable>(
        _ body: (inout State) throws(EventLogError) -> Answer
    ) throws(EventLogError) -> Answer {
        let result: Result<Answer, EventLogError> = state.withLock { state in
            guard !state.isClosed else { return .failure(.closed) }
            do throws(EventLogError) { return .success(try body(&state)) } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}
