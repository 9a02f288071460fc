import CSQLite
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloSQLite

/// One seed's machine: a log on a simulated disk, and an in-memory log that holds exactly what the
/// log acknowledged. After each fault what is recovered must be that, or that and the group in
/// flight.
struct DiskRun {
    let disk: SimulatedDisk
    private let path = "tombolo.db"
    private var chance: SplitMix64
    /// What was acknowledged.
    private var acknowledged = InMemoryEventLog()
    /// That and the group whose outcome is unknown.
    private var inFlight: InMemoryEventLog?
    private var versions: [Int64: Int64] = [:]
    private var now = Sample.noon
    private var keys = 0
    private(set) var groups = 0

    init(seed: UInt64) {
        disk = SimulatedDisk(seed: seed)
        disk.create(path)
        chance = SplitMix64(seed: ~seed)
    }

    // MARK: One life of the program

    /// Opens the log and appends so many groups, or until something fails: the error, if so. Now
    /// and then it reads in between, closes and opens again.
    mutating func live(groups count: Int) async -> EventLogError? {
        let groupsMax = groups + count
        do {
            while groups < groupsMax {
                let writer = try open()
                let reader = try LogReader(path: path, vfs: disk.vfsName, damage: DamageList())
                repeat {
                    if let error = await append(to: writer) { return error }
                    writer.checkpointIfDue()
                    if chance.next(below: 12) == 0 {
                        _ = try reader.history(after: 0, limit: 10)
                    }
                } while groups < groupsMax && chance.next(below: 12) > 0
            }
            return nil
        } catch {
            return error
        }
    }

    /// A writer that has recovered. Its write-ahead log is short, so that checkpoints are many.
    private mutating func open() throws(EventLogError) -> LogWriter {
        let writer = try LogWriter(
            path: path, vfs: disk.vfsName, checkpointPages: 12, chance: &chance)
        _ = try writer.recover(idempotencySince: now - IdempotencyKey.window)
        return writer
    }

    /// Stores a group of one to three batches. The error, if it was not acknowledged.
    private mutating func append(to writer: LogWriter) async -> EventLogError? {
        let before = versions
        let batches = (0...chance.next(below: 3)).map { _ in batch() }
        let twin = acknowledged.crashed()
        let answers = writer.store(batches)
        for (batch, answer) in zip(batches, answers) {
            // Where the twin refuses, the receipts differ.
            let expected = try? await twin.append(batch)
            switch answer {
            case .success(let receipt):
                #expect(receipt == expected)
            case .failure(let error):
                // A full disk has stored nothing; after any other error nobody knows.
                if case .outcomeUnknown = error { inFlight = await whole(batches) }
                versions = before
                return error
            }
        }
        acknowledged = twin
        groups += 1
        return nil
    }

    /// What is acknowledged, and `batches`.
    private func whole(_ batches: [AppendBatch]) async -> InMemoryEventLog {
        let twin = acknowledged.crashed()
        // The twin holds the contract, and the batches are made to pass.
        for batch in batches { _ = try? await twin.append(batch) }
        return twin
    }

    private mutating func batch() -> AppendBatch {
        now = now + .minutes(Int64(chance.next(below: 50)))
        let events = (0..<chance.next(below: 5)).map { _ in event() }
        var batch = Sample.batch(events)
        for index in batch.heads.indices { batch.heads[index].value = bytes(400) }
        batch.facts = (0..<chance.next(below: 3)).map { _ in
            NewFact(
                tenant: Sample.lab, activity: nil, kind: "push.sent", recordedAt: now,
                body: bytes(100))
        }
        batch.records = (0..<chance.next(below: 3)).map { _ in
            Record(
                space: .mark, number: Int64(chance.next(below: 20)),
                value: chance.next(below: 5) == 0 ? nil : bytes(60))
        }
        return batch
    }

    private mutating func event() -> NewEvent {
        let activity = Int64(chance.next(below: 8))
        let tenant = activity % 2 == 0 ? Sample.lab : Sample.field
        keys += 1
        var event = Sample.event(
            activity, after: versions[activity, default: 0], tenant: tenant, at: now,
            key: chance.next(below: 2) == 0 ? "key-\(keys)" : nil)
        event.body = bytes(chance.next(below: 20) == 0 ? 9_000 : 600)
        versions[activity, default: 0] += 1
        return event
    }

    private mutating func bytes(_ countMax: UInt64) -> [UInt8] {
        (0..<chance.next(below: countMax)).map { _ in UInt8(truncatingIfNeeded: chance.next()) }
    }

    // MARK: What is there afterwards

    /// Opens the log once more, on a disk that works, and compares. Answers what is wrong.
    mutating func differences() async throws -> [String] {
        let since = now - IdempotencyKey.window
        let writer = try LogWriter(path: path, vfs: disk.vfsName, chance: &chance)
        let recovered = try writer.recover(idempotencySince: since)
        let reader = try LogReader(path: path, vfs: disk.vfsName, damage: DamageList())
        let events = try reader.history(after: 0, limit: .max)
        var facts = FactQuery(tenant: Sample.lab)
        facts.limit = .max
        let found = (recovered, events, try reader.facts(facts).facts)
        var wrong = await differences(found, acknowledged, since: since)
        if !wrong.isEmpty, let inFlight {
            let other = await differences(found, inFlight, since: since)
            if other.isEmpty {
                acknowledged = inFlight
                wrong = []
            }
        }
        inFlight = nil
        for head in recovered.heads { versions[head.activity.rawValue] = head.version }
        versions = versions.filter { version in
            recovered.heads.contains { $0.activity.rawValue == version.key }
        }
        return wrong + recovered.damage + integrity()
    }

    private func differences(
        _ found: (log: RecoveredLog, events: [RecordedEvent], facts: [RecordedFact]),
        _ twin: InMemoryEventLog, since: Instant
    ) async -> [String] {
        // Whatever the twin's fault is, it is told below.
        guard let expected = try? await twin.recover(idempotencySince: since),
            let events = try? await twin.history(after: 0, limit: .max)  // as above
        else { return ["the twin does not answer"] }
        var query = FactQuery(tenant: Sample.lab)
        query.limit = .max
        // The twin answers, as above.
        let facts = (try? await twin.facts(query).facts) ?? []
        var wrong: [String] = []
        if found.events != events {
            wrong.append("events: \(found.events.count), not \(events.count)")
        }
        if found.facts != facts { wrong.append("facts: \(found.facts.count), not \(facts.count)") }
        if found.log.lastSeq != expected.lastSeq { wrong.append("last sequence") }
        if found.log.lastFactSeq != expected.lastFactSeq { wrong.append("last fact") }
        if found.log.heads != expected.heads { wrong.append("heads") }
        if found.log.records != expected.records { wrong.append("records") }
        if found.log.idempotency.table.seqs != expected.idempotency.table.seqs {
            wrong.append("keys")
        }
        return wrong
    }

    /// SQLite's own opinion.
    private func integrity() -> [String] {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        guard sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, disk.vfsName) == SQLITE_OK
        else { return ["it does not open"] }
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        sqlite3_prepare_v2(database, "PRAGMA integrity_check", -1, &statement, nil)
        guard sqlite3_step(statement) == SQLITE_ROW, let text = sqlite3_column_text(statement, 0)
        else { return ["it cannot be checked"] }
        let answer = String(cString: text)
        return answer == "ok" ? [] : [answer]
    }
}
