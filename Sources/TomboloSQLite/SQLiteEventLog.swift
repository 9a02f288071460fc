package import TomboloCore
package import TomboloEventLog

/// The default log (a face to code against; the writer follows).
package final class SQLiteEventLog: EventLog {
    package init(
        directory: String, chance: inout some RandomNumberGenerator
    ) throws(EventLogError) {
        throw .unusable(cause: "not built yet", hint: "wait a little")
    }

    package func append(
        _ batch: AppendBatch, under ownership: Ownership
    ) async throws(EventLogError) -> AppendReceipt { throw .closed }
    package func recover(idempotencySince: Instant) async throws(EventLogError) -> RecoveredLog {
        throw .closed
    }
    package func events(_ query: EventQuery) async throws(EventLogError) -> EventPage {
        throw .closed
    }
    package func event(
        seq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? { throw .closed }
    package func history(
        after seq: Int64, limit: Int
    ) async throws(EventLogError) -> [RecordedEvent] { throw .closed }
    package func facts(_ query: FactQuery) async throws(EventLogError) -> FactPage {
        throw .closed
    }
    package func close() async {}
}
