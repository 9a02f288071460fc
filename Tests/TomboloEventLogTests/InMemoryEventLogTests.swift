import Synchronization
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

/// Opening again is a crash: what was durable comes back.
private final class InMemoryPlace: EventLogPlace {
    private let newest = Mutex(InMemoryEventLog())

    func open() async throws -> any EventLog {
        newest.withLock { newest in
            newest = newest.crashed()
            return newest
        }
    }
}

@Test(arguments: EventLogContract.all)
func `the in-memory log keeps the contract`(_ rule: EventLogContract) async throws {
    try await rule.check(in: InMemoryPlace())
}

@Test func `a crashed copy and its original do not see each other`() async throws {
    let original = InMemoryEventLog()
    let crashed = original.crashed()
    var batch = AppendBatch()
    batch.records = [Record(space: .relay, number: 1, value: [1])]
    _ = try await original.append(batch)
    let there = try await crashed.recover(idempotencySince: .distantPast)
    #expect(there.records.isEmpty)
}

/// Runs each job at once, where it is enqueued, and counts.
private final class CountingExecutor: SerialExecutor {
    private let jobs = Mutex(0)

    var count: Int { jobs.withLock { $0 } }

    func enqueue(_ job: consuming ExecutorJob) {
        jobs.withLock { $0 += 1 }
        job.runSynchronously(on: asUnownedSerialExecutor())
    }

    func asUnownedSerialExecutor() -> UnownedSerialExecutor {
        UnownedSerialExecutor(ordinary: self)
    }
}

private actor Owner {
    nonisolated let executor = CountingExecutor()
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// Goes through every call, and answers how often it was away from its executor in between.
    func useAll(of log: any EventLog) async throws -> Int {
        let before = executor.count
        for _ in 0..<10 {
            _ = try await log.append(AppendBatch())
            _ = try await log.recover(idempotencySince: .distantPast)
            _ = try await log.history(after: 0, limit: 1)
        }
        await log.close()
        return executor.count - before
    }
}

@Test func `no call leaves the caller's executor`() async throws {
    let suspensions = try await Owner().useAll(of: InMemoryEventLog())
    #expect(suspensions == 0)
}
