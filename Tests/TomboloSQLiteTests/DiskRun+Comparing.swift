import CSQLite
import TestSupport
import TomboloCore
import TomboloEventLog

@testable import TomboloLog
@testable import TomboloSQLite

// What is there afterwards.

extension DiskRun {
    private struct Found {
        var log: RecoveredLog
        var events: [RecordedEvent]
        var facts: [RecordedFact]
    }

    /// Opens the log once more, on a disk that works, and compares. Answers what is wrong.
    mutating func differences() async throws -> [String] {
        let since = now - IdempotencyKey.window
        let writer = try LogWriter(path: path, vfs: disk.vfsName, chance: &chance)
        var recovered = try writer.recover(idempotencySince: since)
        var wrong = recovered.damage
        if try headsAreBehind() { note { $0.headsBehind += 1 } }
        if erasing != nil {
            note { $0.erasuresCut += 1 }
            // Cut short anywhere, it may be done again.
            if let error = await eraseAgain(from: writer) { wrong.append("erasing: \(error)") }
            recovered = try writer.recover(idempotencySince: since)
        }
        let found = try look(recovered)
        if found.events.first?.seq ?? 1 > 1 { note { $0.retentions += 1 } }
        var differences = await differences(found, acknowledged, since: since)
        if !differences.isEmpty, let inFlight {
            let other = await self.differences(found, inFlight, since: since)
            if other.isEmpty {
                acknowledged = inFlight
                differences = []
            }
        }
        inFlight = nil
        await follow()
        let verdict = try LogVerification(path: path, vfs: disk.vfsName).run { _ in }
        return wrong + differences + verdict.wrong + integrity()
    }

    private func headsAreBehind() throws -> Bool {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        sqlite3_open_v2(path, &database, SQLITE_OPEN_READWRITE, disk.vfsName)
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        sqlite3_prepare_v2(
            database, "SELECT 1 FROM cut WHERE key = \(LogCut.Key.heads.rawValue)", -1, &statement,
            nil)
        return sqlite3_step(statement) == SQLITE_ROW
    }

    private func look(_ recovered: RecoveredLog) throws -> Found {
        let reader = try LogReader(path: path, vfs: disk.vfsName, damage: DamageList())
        let events = try reader.history(after: 0, limit: .max)
        var facts = FactQuery(tenant: Sample.lab)
        facts.limit = .max
        return Found(log: recovered, events: events, facts: try reader.facts(facts).facts)
    }

    private func differences(
        _ found: Found, _ twin: InMemoryEventLog, since: Instant
    ) async -> [String] {
        var query = FactQuery(tenant: Sample.lab)
        query.limit = .max
        // Whatever the twin's fault is, it is told below.
        guard let expected = try? await twin.recover(idempotencySince: since),
            let events = try? await twin.history(after: 0, limit: .max),  // as above
            let facts = try? await twin.facts(query).facts  // as above
        else { return ["the twin does not answer"] }
        var wrong: [String] = []
        let gone = events.prefix { $0.seq < found.events.first?.seq ?? .max }
        if Array(events.dropFirst(gone.count)) != found.events {
            wrong.append("events: \(found.events.count), not \(events.count)")
        }
        let eventsBefore = now - Self.retention.history
        if gone.contains(where: { $0.event.recordedAt >= eventsBefore }) {
            wrong.append("events were cut too early")
        }
        let goneFacts = facts.prefix { $0.seq < found.facts.first?.seq ?? .max }
        if Array(facts.dropFirst(goneFacts.count)) != found.facts {
            wrong.append("facts: \(found.facts.count), not \(facts.count)")
        }
        let factsBefore = now - Self.retention.facts
        if goneFacts.contains(where: { $0.fact.recordedAt >= factsBefore }) {
            wrong.append("facts were cut too early")
        }
        if found.log.lastSeq != expected.lastSeq { wrong.append("last sequence") }
        if found.log.lastFactSeq != expected.lastFactSeq { wrong.append("last fact") }
        if found.log.heads != expected.heads { wrong.append("heads") }
        if found.log.places != expected.places {
            wrong.append("tenants' counts")
        }
        if found.log.records != expected.records { wrong.append("records") }
        // An hour's rounding is not among what is compared.
        let keys = Set(found.log.idempotency.table.seqs)
        let must = expected.idempotency.table.seqs.filter { $0 > (gone.last?.seq ?? 0) }
        // Whatever the twin's fault is, it is said above.
        let may = try? await twin.recover(idempotencySince: since - .hours(1)).idempotency
        if !keys.isSuperset(of: must) || !keys.isSubset(of: may?.table.seqs ?? []) {
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
