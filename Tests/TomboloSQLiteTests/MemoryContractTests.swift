import Synchronization
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloLog

/// A log on the engine in memory; opening again closes what was open.
private final class MemoryPlace: EventLogPlace {
    private let tables = MemoryTables()
    private let newest = Mutex<EngineEventLog?>(nil)
    private let isNew = Mutex(true)

    func open() async throws -> any EventLog {
        await newest.withLock { $0.take() }?.close()
        let isNew = isNew.withLock { isNew in
            defer { isNew = false }
            return isNew
        }
        var chance = SplitMix64(seed: 1)
        let damage = DamageList()
        let writer = try LogWriter(tables.writer(), isNew: isNew, chance: &chance)
        let log = try EngineEventLog(
            writer, reading: LogReader(tables.reader(), damage: damage),
            looking: LogReader(tables.reader(), damage: damage), damage: damage, lastRun: nil,
            room: MemoryRoom(), closed: {})
        newest.withLock { $0 = log }
        return log
    }
}

@Test(arguments: EventLogContract.all)
func `the log keeps the contract on an engine in memory`(_ rule: EventLogContract) async throws {
    try await rule.check(in: MemoryPlace())
}
