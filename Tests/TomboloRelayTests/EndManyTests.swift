import Synchronization
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloLoop
import TomboloRelay

/// A log in memory on a disk that fills and is freed.
private final class CrampedLog: EventLog {
    private let log = InMemoryEventLog()
    let isFull = Atomic(false)

    func hasRoom(now: Instant) -> Bool { !isFull.load(ordering: .relaxed) }

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

@Suite struct EndManyTests {
    @Test func `one end for many ends them all, even more than fit into one batch`() throws {
        let count = 10_300
        try RelayTests.with { relay, _ in
            for part in 0..<count / 1_030 {
                let commands = try (0..<1_030).map { index in
                    try RelayTests.command(
                        .start, "a-\(part)-\(index)", #"{"type":"Runner","state":{}}"#)
                }
                _ = await relay.submit(commands)
            }
            let document = try JSONDocument(Array("{}".utf8))
            guard case .end(let how) = try Command.Content(kind: .end, document.root) else {
                Issue.record("an end is read as something else")
                return
            }
            let end = EndMany(
                tenant: RelayTests.tenant, type: "Runner", user: nil, end: how,
                body: document.bytes)
            guard case .success(let planned) = await relay.dryRunEnds(end) else {
                Issue.record("a dry run is refused")
                return
            }
            #expect(planned.count == count)
            #expect(await relay.endMany(end).acceptedAll?.count == count)
            #expect(await relay.counters(of: RelayTests.tenant).activitiesLive == 0)
        }
    }

    @Test func `a relay whose disk is nearly full is not ready, and a line says so`() throws {
        let log = CrampedLog()
        let lines = Mutex<[String]>([])
        try RelayTests.with(log, report: { note in lines.withLock { $0.append(note.text) } }) {
            relay, _ in
            #expect(await relay.isReady)
            log.isFull.store(true, ordering: .relaxed)
            #expect(await !relay.isReady)
            let answer = await relay.submit(
                try RelayTests.command(.start, "cat", #"{"type":"Runner","state":{}}"#))
            #expect(answer.refusal?.code == .logFull)
            log.isFull.store(false, ordering: .relaxed)
            #expect(await relay.isReady)
        }
        let all = lines.withLock { $0 }
        #expect(all.count == 2, "\(all)")
        #expect(all.first?.contains("nearly full") == true)
        #expect(all.last?.contains("has room again") == true)
    }
}
