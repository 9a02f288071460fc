import CSQLite
import Glibc
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloSQLite

/// Databases as older programs left them, one for each schema before today's: `schema-N.sql`, made
/// with `tombolo bench append --count 6 --activities 2 --batch 3 --ids` by the last program that
/// wrote that schema, and dumped. They are never changed.
private enum Golden {
    static func sql(_ schema: Int) throws -> String {
        let here = #filePath
        let folder = here[..<(try #require(here.lastIndex(of: "/")))]
        let path = "\(folder)/Golden/schema-\(schema).sql"
        let file = try #require(fopen(path, "r"), "\(path) is kept")
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while case let count = fread(&piece, 1, piece.count, file), count > 0 {
            bytes += piece[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A directory with the golden database of that schema in it.
    static func place(_ schema: Int) throws -> SQLitePlace {
        let place = SQLitePlace()
        shell(place, try sql(schema))
        return place
    }
}

@Suite struct GoldenTests {
    @Test(arguments: [1, 2, 3, 4])
    func `a database of an older schema is brought up and goes on`(schema: Int) async throws {
        let place = try Golden.place(schema)
        let log = try place.reopen()
        let recovered = try await log.recover()
        #expect(recovered.damage.isEmpty)
        #expect(recovered.lastSeq == 6)
        #expect(recovered.heads.map(\.version) == [3, 3])
        #expect(recovered.idempotency.table.seqs == Array(1...6))
        let main = Sample.tenant("main")
        let first = try #require(try await log.event(seq: 1, tenant: main))
        let now = first.event.recordedAt
        #expect(recovered.idempotency.seq(of: "bench-4", tenant: main, at: now) == 4)
        let events = try await log.history(after: 0, limit: 10)
        #expect(events.map(\.tenantSeq) == Array(1...6))
        #expect(recovered.tenantSeqs == [main: 6])
        #expect(events.map(\.previous) == [0, 0, 1, 2, 3, 4])
        let next = Sample.event(1, after: 3, tenant: main, at: now, body: "{}", key: "bench-4")
        await #expect(throws: EventLogError.self) { try await log.append(Sample.batch(next)) }
        await log.close()
        let verdict = try LogVerification(path: place.directory + "/tombolo.db").run { _ in }
        #expect(verdict.wrong.isEmpty)
        #expect(verdict.events == 6)
        let again = try place.reopen()
        // A place that a client knows stays what it is, and the tenant's next comes after it.
        let other = Sample.event(9, after: 0, tenant: Sample.tenant("other"), at: now)
        #expect(try await again.append(Sample.batch(other)).tenantSeqs == [1])
        let after = Sample.event(1, after: 3, tenant: main, at: now)
        #expect(try await again.append(Sample.batch(after)).tenantSeqs == [7])
    }

    @Test(arguments: [1, 2, 3, 4])
    func `an upgrade cut short anywhere is done by the next start`(schema: Int) async throws {
        for operation in 1...60 {
            let disk = SimulatedDisk(seed: UInt64(operation))
            disk.create("tombolo.db")
            try load(try Golden.sql(schema), into: disk)
            disk.plan(.powerLoss, after: operation)
            var chance = SplitMix64(seed: 1)
            // It may be through before the power fails.
            _ = try? LogWriter(path: "tombolo.db", vfs: disk.vfsName, chance: &chance)
            disk.restorePower()
            let writer = try LogWriter(path: "tombolo.db", vfs: disk.vfsName, chance: &chance)
            let recovered = try writer.recover(idempotencySince: .distantPast)
            #expect(recovered.lastSeq == 6, "operation \(operation)")
            #expect(recovered.damage.isEmpty, "operation \(operation)")
        }
    }

    @Test func `one who only reads is told what to do with an older log`() throws {
        let place = try Golden.place(2)
        let read = Result { () throws(EventLogError) in
            try LogVerification(path: place.directory + "/tombolo.db").run { _ in }.events
        }
        guard case .failure(.unusable(let cause, let hint)) = read else {
            Issue.record("it was read")
            return
        }
        #expect(cause.contains("it has schema 2, this program reads 5"))
        #expect(hint.hasPrefix("start the relay with it once"))
    }

    private func load(_ sql: String, into disk: SimulatedDisk) throws {
        var database: OpaquePointer?
        defer { sqlite3_close(database) }
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        try #require(
            sqlite3_open_v2("tombolo.db", &database, flags, disk.vfsName) == SQLITE_OK)
        // Else the end of the journal may be undone: SQLite syncs no directory for it.
        let durability = "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
        try #require(sqlite3_exec(database, durability + sql, nil, nil, nil) == SQLITE_OK)
    }
}
