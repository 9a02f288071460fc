import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloLog
import TomboloSQLite

/// Where a simulated log keeps its bytes: something that can lose its power.
protocol Storage: EventLog {
    /// What a new start finds. The one before must not be used any more.
    func afterCrash() -> any Storage

    /// Cuts the power within the next append, after so many operations, where it can.
    func planPowerLoss(after operations: Int)

    /// Cuts events up to there, with no regard for what needs them still; a mutant's way.
    func cutRegardless(through seq: Int64)

    /// No power loss is to come any more. Answers whether the power is gone already.
    func calm() -> Bool

    /// The disk takes nothing more, or takes it again. Answers whether the log will find that out
    /// by itself.
    func setFull(_ isFull: Bool) -> Bool
}

extension InMemoryEventLog: Storage {
    func afterCrash() -> any Storage { crashed() }
    func planPowerLoss(after operations: Int) {}
    func cutRegardless(through seq: Int64) {}
    func calm() -> Bool { false }
    func setFull(_ isFull: Bool) -> Bool { false }
}

/// SQLite on a disk that keeps only what was synced.
final class DiskStorage: Storage, @unchecked Sendable {
    // Sendable: used on the virtual loop's thread only.
    private static let path = "tombolo.db"

    private let disk: SimulatedDisk
    private let retention: LogRetention
    private var chance: SplitMix64
    private var writer: LogWriter?
    private var reader: LogReader?

    init(seed: UInt64, retention: LogRetention = .forever) {
        self.retention = retention
        disk = SimulatedDisk(seed: seed)
        disk.create(Self.path)
        chance = SplitMix64(seed: ~seed)
    }

    private init(_ disk: SimulatedDisk, _ retention: LogRetention, _ chance: SplitMix64) {
        self.disk = disk
        self.retention = retention
        self.chance = chance
    }

    func afterCrash() -> any Storage {
        writer?.leaveWALOnClose()
        if !disk.isDark { disk.plan(.powerLoss, after: 1) }
        writer = nil
        reader = nil
        disk.restorePower()
        return DiskStorage(disk, retention, chance)
    }

    func cutRegardless(through seq: Int64) {
        let sql = "DELETE FROM event WHERE key <= \(seq)"
        // On a disk that is full or fails just then, nothing is planted.
        _ = disk.tryToExecute(sql, in: Self.path)
    }

    func planPowerLoss(after operations: Int) { disk.plan(.powerLoss, after: operations) }

    func calm() -> Bool {
        disk.planNothing()
        return disk.isDark
    }

    func setFull(_ isFull: Bool) -> Bool {
        disk.bytesMax = isFull ? disk.bytesMax ?? disk.bytesUsed : nil
        return true
    }

    private func opened() throws(EventLogError) -> LogWriter {
        if let writer { return writer }
        let opened = try LogWriter(
            path: Self.path, vfs: disk.vfsName, checkpointPages: 60, retention: retention,
            chance: &chance)
        writer = opened
        return opened
    }

    private func openedReader() throws(EventLogError) -> LogReader {
        if let reader { return reader }
        _ = try opened()
        let opened = try LogReader(path: Self.path, vfs: disk.vfsName, damage: DamageList())
        reader = opened
        return opened
    }

    func append(_ batch: AppendBatch) async throws(EventLogError) -> AppendReceipt {
        let writer = try opened()
        guard let answer = writer.store([batch]).first else { throw .closed }
        writer.cutIfDue()
        writer.checkpointIfDue()
        return try answer.get()
    }

    func recover(idempotencySince: Instant) async throws(EventLogError) -> RecoveredLog {
        try opened().recover(idempotencySince: idempotencySince)
    }

    func events(_ query: EventQuery) async throws(EventLogError) -> EventPage {
        try openedReader().events(query)
    }

    func event(
        seq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? {
        try openedReader().event(seq: seq, tenant: tenant)
    }

    func event(
        tenantSeq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? {
        try openedReader().event(tenantSeq: tenantSeq, tenant: tenant)
    }

    func history(
        after seq: Int64, limit: Int
    ) async throws(EventLogError) -> [RecordedEvent] {
        try openedReader().history(after: seq, limit: limit)
    }

    func facts(_ query: FactQuery) async throws(EventLogError) -> FactPage {
        try openedReader().facts(query)
    }

    func retired(
        named keys: [ActivityKey]
    ) async throws(EventLogError) -> [RecoveredHead] {
        try openedReader().retired(named: keys)
    }

    func retired(
        _ activity: ActivityNumber, tenant: TenantID
    ) async throws(EventLogError) -> RecoveredHead? {
        try openedReader().retired(activity, tenant: tenant)
    }

    func close() async {}
}
