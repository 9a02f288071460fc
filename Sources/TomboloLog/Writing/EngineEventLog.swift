package import TomboloCore
package import TomboloEventLog

/// A log on an engine, with one writer thread and two reader threads. One reader looks up single
/// rows, so that they do not wait for pages.
///
/// Guarantees: `append` returns after the engine's commit. Waiting batches are committed together,
/// in order, each completely or not at all.
///
/// Calls suspend and resume on the caller's executor. If the log is released without `close`, it
/// stops as in a crash: nothing durable is lost.
///
/// ```swift
/// let writer = try LogWriter(engine, isNew: true, chance: &chance)
/// let reader = try LogReader(readingEngine, window: writer.window, damage: damage)
/// let log = try EngineEventLog(
///     writer, reading: reader, looking: lookup, damage: damage, lastRun: nil, room: room,
///     closed: {})
/// _ = try await log.recover(idempotencySince: .distantPast)  // before the first append
/// ```
package final class EngineEventLog: EventLog {
    private let writing: LogWriterThread
    /// Reads pages of the log, which may take some time.
    private let reading: LogReaderThread
    /// Reads single rows. The start of an activity whose id is new waits for one.
    private let looking: LogReaderThread
    private let damageList: DamageList
    private let room: any LogRoom
    private let window: LogWindow
    private let ends: @Sendable () -> Void
    private let owns: (@Sendable () -> Bool)?
    /// When the last run wrote last; nil if it stopped cleanly, or if there was none.
    package let lastRun: Instant?

    /// - Parameters:
    ///   - damage: the list that the readers fill.
    ///   - closed: called after the writer's engine is closed.
    ///   - ends: called when the log is about to be closed. From then on, an engine that does not
    ///     answer gets a few more seconds.
    ///   - owns: answers `isOwned`; nil: always true.
    package init(
        _ writer: LogWriter, reading reader: LogReader, looking lookup: LogReader,
        damage: DamageList, lastRun: Instant?, room: any LogRoom,
        closed: @escaping @Sendable () -> Void, ends: @escaping @Sendable () -> Void = {},
        owns: (@Sendable () -> Bool)? = nil
    ) throws(EventLogError) {
        self.owns = owns
        (damageList, self.lastRun, self.room, window) = (damage, lastRun, room, writer.window)
        self.ends = ends
        writing = try LogWriterThread(writer, room: room, closed: closed)
        reading = try LogReaderThread(reader, name: "log reader")
        looking = try LogReaderThread(lookup, name: "log lookup")
    }

    package var isOwned: Bool { owns?() ?? true }

    /// True if events may be appended: see `LogRoom`.
    package func hasRoom(now: Instant) -> Bool { room.isThere(now: now) }

    /// Damaged rows that reads found since the log was opened, at most 100 lines.
    package var damage: [String] { damageList.all }

    package func append(_ batch: AppendBatch) async throws(EventLogError) -> AppendReceipt {
        try await writing.answer { .append(batch, $0) }
    }

    package func recover(
        idempotencySince: Instant
    ) async throws(EventLogError) -> RecoveredLog {
        do throws(EventLogError) {
            return try await writing.answer { .recover(since: idempotencySince, $0) }
        } catch {
            throw room.explaining(error)
        }
    }

    package func events(_ query: EventQuery) async throws(EventLogError) -> EventPage {
        if let page = window.events(query) { return page }
        return try await reading.ask { log throws(EventLogError) in try log.events(query) }
    }

    package func event(
        seq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? {
        try await looking.ask { log throws(EventLogError) in
            try log.event(seq: seq, tenant: tenant)
        }
    }

    package func event(
        tenantSeq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? {
        try await reading.ask { log throws(EventLogError) in
            try log.event(tenantSeq: tenantSeq, tenant: tenant)
        }
    }

    package func retired(
        named keys: [ActivityKey]
    ) async throws(EventLogError) -> [RecoveredHead] {
        try await looking.ask { log throws(EventLogError) in try log.retired(named: keys) }
    }

    package func retired(
        _ activity: ActivityNumber, tenant: TenantID
    ) async throws(EventLogError) -> RecoveredHead? {
        try await looking.ask { log throws(EventLogError) in
            try log.retired(activity, tenant: tenant)
        }
    }

    package func snapshot(
        of activity: ActivityNumber, tenant: TenantID, at moment: LogMoment, newest: Int64
    ) async throws(EventLogError) -> RecoveredHead? {
        try await reading.ask { log throws(EventLogError) in
            try log.snapshot(of: activity, tenant: tenant, at: moment, newest: newest)
        }
    }

    package func history(
        after seq: Int64, limit: Int
    ) async throws(EventLogError) -> [RecordedEvent] {
        try await reading.ask { log throws(EventLogError) in
            try log.history(after: seq, limit: limit)
        }
    }

    package func facts(_ query: FactQuery) async throws(EventLogError) -> FactPage {
        if let page = window.facts(query) { return page }
        return try await reading.ask { log throws(EventLogError) in try log.facts(query) }
    }

    package func erase(_ erasure: LogErasure) async throws(EventLogError) -> LogErased {
        try await writing.answer { .erase(erasure, $0) }
    }

    /// Announces that the log will be closed. From then on an engine that does not answer is given
    /// up after a few seconds.
    package func hurry() { ends() }

    /// Finishes all calls and closes the engine before it returns. A second call waits too.
    package func close() async {
        ends()
        await reading.close()
        await looking.close()
        await writing.close(with: .close)
    }
}
