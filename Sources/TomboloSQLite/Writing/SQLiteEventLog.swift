package import TomboloCore
package import TomboloEventLog

/// The default log: one SQLite database in one directory, one thread that writes, and two
/// that read: one looks up single rows, which do not wait for pages.
///
/// Guarantees: `append` returns after SQLite's fsync of the commit returned; batches that wait are
/// committed together, in their order, each whole or not at all; no two relays write one directory,
/// and a killed one leaves nothing behind that keeps the next out. What was acknowledged survives
/// `kill -9` and loss of power on a disk that does what fsync says. It does not survive the disk:
/// see `backup`.
///
/// Calls suspend and come back on the caller's executor. Where it is dropped without `close`, it
/// stops as in a crash: nothing durable is lost, the next start-up reads the write-ahead log.
///
/// ```swift
/// let log = try SQLiteEventLog(directory: directory, chance: &chance)
/// let found = try await log.recover(idempotencySince: .distantPast)  // before the first append
/// _ = try await log.append(batch, under: .sole)
/// await log.close()
/// ```
package final class SQLiteEventLog: EventLog {
    private let writing: LogWriterThread
    /// Pages of the log, which may take long.
    private let reading: LogReaderThread
    /// Single rows: every start of a new id waits for one.
    private let looking: LogReaderThread
    private let damageList = DamageList()
    private let room: DiskRoom
    /// When the last run wrote last, where it did not stop by itself; nil where it did, and where
    /// there was none.
    package let lastRun: Instant?

    /// Opens the log in `directory`, or makes both; `chance` seeds a new log's hash of idempotency
    /// keys; `retention` says what goes with time; `caution` what is not touched. Throws
    /// `.unusable` where another relay has it open, where it is of a newer schema or of another
    /// program, or where the file system refuses.
    package init(
        directory: String, retention: LogRetention = .forever, caution: LogCaution = LogCaution(),
        chance: inout some RandomNumberGenerator
    ) throws(EventLogError) {
        room = DiskRoom(directory: directory)
        let held = try DataDirectory(directory)
        lastRun = held.lastRun
        // The ballast is there for this: what was accepted is to be delivered.
        if room.fullness != nil { _ = room.dropBallast() }
        let path = held.databasePath
        let (writer, reader, lookup): (LogWriter, LogReader, LogReader)
        do throws(EventLogError) {
            try held.createDatabase()
            writer = try LogWriter(
                path: path, retention: retention, caution: caution, chance: &chance)
            reader = try LogReader(path: path, damage: damageList)
            lookup = try LogReader(path: path, damage: damageList)
        } catch {
            throw room.explaining(error)
        }
        room.fillBallast()
        writing = try LogWriterThread(writer, holding: held, room: room)
        reading = try LogReaderThread(reader, name: "log reader")
        looking = try LogReaderThread(lookup, name: "log lookup")
    }

    /// Asks the file system: see `DiskRoom`.
    package var hasRoom: Bool { room.isThere }

    /// Damaged rows that reads met since the log was opened, at most 100 lines.
    package var damage: [String] { damageList.all }

    package func append(
        _ batch: AppendBatch, under ownership: Ownership
    ) async throws(EventLogError) -> AppendReceipt {
        try await writing.append(batch).get()
    }

    package func recover(
        idempotencySince: Instant
    ) async throws(EventLogError) -> RecoveredLog {
        do throws(EventLogError) {
            return try await writing.recover(idempotencySince: idempotencySince).get()
        } catch {
            throw room.explaining(error)
        }
    }

    package func events(_ query: EventQuery) async throws(EventLogError) -> EventPage {
        try await reading.ask { reader throws(EventLogError) in
            try reader.events(query)
        }.get()
    }

    package func event(
        seq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? {
        try await looking.ask { reader throws(EventLogError) in
            try reader.event(seq: seq, tenant: tenant)
        }.get()
    }

    package func event(
        tenantSeq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? {
        try await reading.ask { reader throws(EventLogError) in
            try reader.event(tenantSeq: tenantSeq, tenant: tenant)
        }.get()
    }

    package func retired(
        named keys: [ActivityKey]
    ) async throws(EventLogError) -> [RecoveredHead] {
        try await looking.ask { reader throws(EventLogError) in
            try reader.retired(named: keys)
        }.get()
    }

    package func retired(
        _ activity: ActivityNumber, tenant: TenantID
    ) async throws(EventLogError) -> RecoveredHead? {
        try await looking.ask { reader throws(EventLogError) in
            try reader.retired(activity, tenant: tenant)
        }.get()
    }

    package func snapshot(
        of activity: ActivityNumber, tenant: TenantID, at moment: LogMoment, newest: Int64
    ) async throws(EventLogError) -> RecoveredHead? {
        try await reading.ask { reader throws(EventLogError) in
            try reader.snapshot(of: activity, tenant: tenant, at: moment, newest: newest)
        }.get()
    }

    package func history(
        after seq: Int64, limit: Int
    ) async throws(EventLogError) -> [RecordedEvent] {
        try await reading.ask { reader throws(EventLogError) in
            try reader.history(after: seq, limit: limit)
        }.get()
    }

    package func facts(_ query: FactQuery) async throws(EventLogError) -> FactPage {
        try await reading.ask { reader throws(EventLogError) in
            try reader.facts(query)
        }.get()
    }

    package func erase(_ erasure: LogErasure) async throws(EventLogError) -> LogErased {
        try await writing.erase(erasure).get()
    }

    /// Finishes what was handed over, copies the write-ahead log into the database and lets go of
    /// the directory; all of that has happened on return. A second call returns when the first
    /// one's work is done or at once.
    package func close() async {
        await reading.close()
        await looking.close()
        await writing.close()
    }
}

extension DiskRoom {
    /// SQLite calls a full disk an I/O error where it maps a file.
    func explaining(_ error: EventLogError) -> EventLogError {
        guard let (cause, hint) = fullness else { return error }
        return .unusable(cause: cause, hint: hint)
    }
}
