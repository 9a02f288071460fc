import TestSupport
import TomboloCore
import TomboloEventLog
import TomboloLog
import TomboloSQLite

/// The log of a simulated machine, on tables that can lose their power.
final class LogStorage: @unchecked Sendable {
    // Sendable: used on the virtual loop's thread only.

    /// What keeps the tables.
    private enum Place {
        /// SQLite, on a disk that keeps only what was synced.
        case disk(SimulatedDisk)
        case memory(MemoryTables)
    }

    private static let path = "tombolo.db"

    private let place: Place
    private let retention: LogRetention
    private var chance: SplitMix64
    private var openWriter: LogWriter?
    private var openReader: LogReader?

    private init(_ place: Place, _ retention: LogRetention, _ chance: SplitMix64) {
        (self.place, self.retention, self.chance) = (place, retention, chance)
    }

    convenience init(diskSeed seed: UInt64, retention: LogRetention) {
        let disk = SimulatedDisk(seed: seed)
        disk.create(Self.path)
        self.init(.disk(disk), retention, SplitMix64(seed: ~seed))
    }

    /// In memory, where nothing is cut.
    convenience init(memorySeed seed: UInt64) {
        self.init(.memory(MemoryTables()), .forever, SplitMix64(seed: seed))
    }

    // MARK: The log

    func writer() throws(EventLogError) -> LogWriter {
        if let openWriter { return openWriter }
        let writer: LogWriter
        switch place {
        case .disk(let disk):
            writer = try LogWriter(
                path: Self.path, vfs: disk.vfsName, checkpointPages: 60, retention: retention,
                chance: &chance)
        case .memory(let tables):
            let engine = tables.writer()
            let isNew = try engine.edge(LogTable(.meta), .rising, in: .min ... .max) == nil
            writer = try LogWriter(engine, isNew: isNew, retention: retention, chance: &chance)
        }
        openWriter = writer
        return writer
    }

    func reader() throws(EventLogError) -> LogReader {
        if let openReader { return openReader }
        let window = try writer().window
        let reader: LogReader
        switch place {
        case .disk(let disk):
            reader = try LogReader(
                path: Self.path, vfs: disk.vfsName, window: window, damage: DamageList())
        case .memory(let tables):
            reader = try LogReader(tables.reader(), window: window, damage: DamageList())
        }
        openReader = reader
        return reader
    }

    func append(_ batch: AppendBatch) throws(EventLogError) -> AppendReceipt {
        let writer = try writer()
        guard let answer = writer.store([batch]).first else { throw .closed }
        writer.cutIfDue()
        writer.checkpointIfDue()
        return try answer.get()
    }

    // MARK: Trouble

    /// What a new start finds. The one before must not be used any more.
    func afterCrash() -> LogStorage {
        openWriter?.leaveWALOnClose()
        if case .disk(let disk) = place, !disk.isDark { disk.plan(.powerLoss, after: 1) }
        openWriter = nil
        openReader = nil
        switch place {
        case .disk(let disk): disk.restorePower()
        case .memory(let tables): tables.restorePower()
        }
        return LogStorage(place, retention, chance)
    }

    /// Another machine's, with what is committed here; nil of a disk.
    func copy() -> LogStorage? {
        guard case .memory(let tables) = place else { return nil }
        return LogStorage(.memory(tables.copy()), retention, chance)
    }

    /// Cuts events up to there, with no regard for what needs them still; a mutant's way. Where
    /// there is no room or no power just then, nothing is planted.
    func cutRegardless(through seq: Int64) {
        switch place {
        case .disk(let disk):
            _ = disk.tryToExecute("DELETE FROM event WHERE key <= \(seq)", in: Self.path)
        case .memory(let tables):
            let engine = tables.writer()
            do throws(EventLogError) {
                try engine.delete(LogTable(.event), .min...seq, isPersonal: false)
                try engine.commit()
            } catch {}
        }
    }

    /// Cuts the power with that operation from now, 1 is the next one: within the next append, or
    /// in one that follows.
    func planPowerLoss(after operations: Int) {
        switch place {
        case .disk(let disk): disk.plan(.powerLoss, after: operations)
        case .memory(let tables): tables.planPowerLoss(after: operations - 1)
        }
    }

    /// No power loss is to come any more. Answers whether the power is gone already.
    func calm() -> Bool {
        switch place {
        case .disk(let disk):
            disk.planNothing()
            return disk.isDark
        case .memory(let tables): return tables.calm()
        }
    }

    /// There is no more room, or there is again: the log finds out by itself.
    func setFull(_ isFull: Bool) {
        switch place {
        case .disk(let disk): disk.bytesMax = isFull ? disk.bytesMax ?? disk.bytesUsed : nil
        case .memory(let tables): tables.setFull(isFull)
        }
    }
}
