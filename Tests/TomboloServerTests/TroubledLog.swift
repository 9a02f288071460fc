import Synchronization
import TestSupport
import TomboloCore
import TomboloEventLog

/// A log in memory, with troubles that a test makes.
final class TroubledLog: EventLog {
    private let log = InMemoryEventLog()
    private let lines = Mutex<[String]>([])
    let isFull = Atomic(false)

    func hasRoom(now: Instant) -> Bool { !isFull.load(ordering: .relaxed) }
    var damage: [String] { lines.withLock { $0 } }

    /// A read finds a damaged row.
    func find(_ line: String) { lines.withLock { $0.append(line) } }

    func append(_ batch: AppendBatch) async throws(EventLogError) -> AppendReceipt {
        try await log.append(batch)
    }

    func recover(idempotencySince: Instant) async throws(EventLogError) -> RecoveredLog {
        try await log.recover(idempotencySince: idempotencySince)
    }

    func events(_ query: EventQuery) async throws(EventLogError) -> EventPage {
        try await log.events(query)
    }

    func event(seq: Int64, tenant: TenantID) async throws(EventLogError) -> RecordedEvent? {
        try await log.event(seq: seq, tenant: tenant)
    }

    func event(tenantSeq: Int64, tenant: TenantID) async throws(EventLogError) -> RecordedEvent? {
        try await log.event(tenantSeq: tenantSeq, tenant: tenant)
    }

    func retired(named keys: [ActivityKey]) async throws(EventLogError) -> [RecoveredHead] {
        try await log.retired(named: keys)
    }

    func retired(
        _ activity: ActivityNumber, tenant: TenantID
    ) async throws(EventLogError) -> RecoveredHead? {
        try await log.retired(activity, tenant: tenant)
    }

    func history(after seq: Int64, limit: Int) async throws(EventLogError) -> [RecordedEvent] {
        try await log.history(after: seq, limit: limit)
    }

    func facts(_ query: FactQuery) async throws(EventLogError) -> FactPage {
        try await log.facts(query)
    }

    func close() async { await log.close() }
}
