import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloLog
import TomboloLoop

/// One life's way to the log: appends take time, and fail when the life has ended.
///
/// What is durable is told to the world at that moment, before the relay learns it.
final class SimulatedLog: EventLog, @unchecked Sendable {
    // Sendable: used on the virtual loop's thread only.
    private unowned let world: World
    private unowned let life: Life
    private let storage: LogStorage
    /// Batches that a mutant has answered for and not stored.
    private var owed: [AppendBatch] = []
    private var lastSeq: Int64 = 0
    private var lastFactSeq: Int64 = 0
    private var places: [TenantID: LogPlace] = [:]

    init(_ world: World, _ life: Life, _ storage: LogStorage) {
        self.world = world
        self.life = life
        self.storage = storage
    }

    func append(_ batch: AppendBatch) async throws(EventLogError) -> AppendReceipt {
        var batch = batch
        world.seam.apply(to: &batch)
        if world.seam.acknowledgesBeforeCommit { return try await promise(batch) }
        try await wait(world.diskDelay())
        storage.setFull(world.isDiskFull)
        if world.strikes(.diskErrors, .disk, oneIn: 25) {
            if world.dice.happens(.disk, oneIn: 2) { try store(batch) }
            throw .outcomeUnknown(cause: "an error of the simulated disk")
        }
        if world.strikes(.crashes, .disk, oneIn: 40) {
            storage.planPowerLoss(after: world.dice.roll(.disk, 1...14))
        }
        var receipt = try store(batch)
        world.seam.apply(to: &receipt)
        // Before anybody is told, or while something still waits for its turn.
        if world.strikes(.crashes, .disk, oneIn: 30) {
            world.after(world.dice.time(.disk, 1...8_000)) { [world] in world.crash() }
        }
        try await wait(world.diskDelay())
        return receipt
    }

    @discardableResult
    private func store(_ batch: AppendBatch) throws(EventLogError) -> AppendReceipt {
        let receipt = try storage.append(batch)
        world.becameDurable(batch, receipt)
        return receipt
    }

    /// The mutant: an answer now, the disk later.
    private func promise(_ batch: AppendBatch) async throws(EventLogError) -> AppendReceipt {
        for batch in owed { try store(batch) }
        owed = [batch]
        var receipt = AppendReceipt(firstSeq: lastSeq + 1, firstFactSeq: lastFactSeq + 1)
        for event in batch.events {
            places[event.tenant, default: .none].command += 1
            receipt.tenantSeqs.append(places[event.tenant]?.command ?? 0)
        }
        for fact in batch.facts {
            places[fact.tenant, default: .none].fact += 1
            receipt.tenantFactSeqs.append(places[fact.tenant]?.fact ?? 0)
        }
        lastSeq += Int64(batch.events.count)
        lastFactSeq += Int64(batch.facts.count)
        try await wait(.milliseconds(1))
        return receipt
    }

    private func wait(_ delay: Duration) async throws(EventLogError) {
        do { try await world.loop.sleep(for: delay) } catch {
            throw .outcomeUnknown(cause: "the power is gone")
        }
        if life.isDead { throw .outcomeUnknown(cause: "the power is gone") }
    }

    /// Half of the worlds notice a full disk only when they meet it.
    func hasRoom(now: Instant) -> Bool { !(world.isDiskFull && world.plan.warnsOfFullDisk) }

    func recover(idempotencySince: Instant) async throws(EventLogError) -> RecoveredLog {
        try await wait(world.diskDelay())
        if world.strikes(.crashInRecovery, .disk, oneIn: 3) {
            storage.planPowerLoss(after: world.dice.roll(.disk, 1...25))
        }
        var recovered = try storage.writer().recover(idempotencySince: idempotencySince)
        world.reconcile(
            try storage.reader().history(after: 0, limit: .max), recovered, life)
        recovered.restoredAt = world.restoredAt ?? recovered.restoredAt
        lastSeq = recovered.lastSeq
        lastFactSeq = recovered.lastFactSeq
        places = recovered.places
        try await wait(world.diskDelay())
        world.seam.apply(to: &recovered)
        return recovered
    }

    func events(_ query: EventQuery) async throws(EventLogError) -> EventPage {
        if let page = try storage.writer().window.events(query) { return page }
        return try storage.reader().events(query)
    }

    func event(
        seq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? {
        try storage.reader().event(seq: seq, tenant: tenant)
    }

    func event(
        tenantSeq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? {
        try storage.reader().event(tenantSeq: tenantSeq, tenant: tenant)
    }

    func history(
        after seq: Int64, limit: Int
    ) async throws(EventLogError) -> [RecordedEvent] {
        try storage.reader().history(after: seq, limit: limit)
    }

    func facts(_ query: FactQuery) async throws(EventLogError) -> FactPage {
        if let page = try storage.writer().window.facts(query) { return page }
        return try storage.reader().facts(query)
    }

    func retired(
        named keys: [ActivityKey]
    ) async throws(EventLogError) -> [RecoveredHead] {
        try storage.reader().retired(named: keys)
    }

    func retired(
        _ activity: ActivityNumber, tenant: TenantID
    ) async throws(EventLogError) -> RecoveredHead? {
        try storage.reader().retired(activity, tenant: tenant)
    }

    func close() async {}
}
