#if Postgres
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog
@testable import TomboloPostgres

/// What a log rests on in PostgreSQL, besides the tables: sessions, schema, owner.
@Suite(.enabled(if: PostgresPlace.isThere)) struct PostgresTests {
    private let place = PostgresPlace()
    private var schema: String { place.database.schema }

    private func ask(_ sql: String) throws {
        _ = try PostgresConnection(place.database).ask(sql)
    }

    private func open(
        _ database: PostgresDatabase? = nil, pepper: [UInt8] = [1]
    ) throws -> EngineEventLog {
        var chance = PostgresPlace.newChance()
        return try PostgresEventLog.open(
            database ?? place.database, pepper: pepper, retention: .forever,
            caution: LogCaution(), clock: PostgresPlace.clock, chance: &chance
        ).log
    }

    /// Why `body` does not open a log.
    private func cause(_ body: () throws -> Void) -> String {
        let error = #expect(throws: EventLogError.self, performing: body)
        return switch error {
        case .unusable(let cause, let hint), .owned(let cause, let hint): "\(cause); \(hint)"
        default: "\(error as Any)"
        }
    }

    // MARK: Sessions

    /// Each setting of the table, set otherwise for a role.
    @Test func `a session has its settings whatever its role has`() throws {
        var others = [
            "client_min_messages": "error", "synchronous_commit": "off",
            "default_transaction_isolation": "serializable", "client_encoding": "LATIN1",
            "search_path": schema,
        ]
        let settings = PostgresSession.settings(.local, server: 150_000)
        for (name, value) in settings where others[name] == nil {
            others[name] = value == "off" ? "on" : value == "on" ? "off" : "90s"
        }
        try ask("CREATE ROLE \(schema) LOGIN SUPERUSER")
        defer { #expect(throws: Never.self) { try ask("DROP ROLE \(schema)") } }
        for (name, value) in others {
            try ask("ALTER ROLE \(schema) SET \(name) = '\(value)'")
        }
        var database = place.database
        database.words["user"] = schema
        let connection = try PostgresConnection(database)
        for (name, value) in settings {
            let found = try connection.ask("SELECT current_setting('\(name)')").text(0, 0)
            #expect(found == value, "\(name)")
        }
        #expect(others.count == settings.count)
    }

    @Test func `a server that may lose what it acknowledged is refused`() throws {
        var database = place.database
        database.takesUnsafeServer = false
        #expect(
            cause { _ = try PostgresConnection(database) }.contains(
                "fsync = off: it loses what it acknowledged"))
        database = place.database
        database.durability = .standby
        #expect(
            cause { _ = try PostgresConnection(database) }.contains("has no synchronous standby"))
    }

    @Test func `what cannot be reached is said with no password in it`() throws {
        var database = place.database
        database.words["port"] = "1"
        database.words["password"] = "secret"
        let text = cause { _ = try PostgresConnection(database) }
        #expect(text.contains("port 1"))
        #expect(!text.contains("secret"))
    }

    @Test(arguments: [
        "postgres://u:secret@h/d", "postgres://u@h/d?password=secret",
        "postgres://u@h/d?options=-cfsync%3Doff", "postgres://u@h/d?application_name=me",
        "postgres://u@h/d?target_session_attrs=any", "postgres://u@h/d?connect_timeout=9",
        "secret",
    ])
    func `a URL has neither a password nor what the relay sets`(url: String) {
        let text = cause { _ = try PostgresDatabase(url: url) }
        #expect(text.hasPrefix("--database: "))
        #expect(!text.contains("secret"))
    }

    @Test func `TLS is asked for wherever others are on the way`() throws {
        func isNear(_ words: [String: String]) -> Bool {
            var database = PostgresDatabase()
            database.words = words
            return database.isNear
        }
        #expect(isNear([:]) && isNear(["host": "/run/postgresql"]))
        #expect(isNear(["host": "localhost,127.0.0.1"]) && isNear(["hostaddr": "::1"]))
        #expect(!isNear(["host": "db.example.com"]) && !isNear(["host": "localhost,db"]))
        #expect(
            !isNear(["service": "db"]) && !isNear(["host": "127.0.0.1", "hostaddr": "10.0.0.1"]))
        var database = place.database
        (database.words["host"], database.words["hostaddr"]) = ("db.example.com", nil)
        database.words["hostaddr"] = "127.0.0.1"
        database.words["sslmode"] = "verify-full"
        #expect(cause { _ = try PostgresConnection(database) }.contains("SSL"))
    }

    // MARK: Schema

    @Test func `a log is made once, also by two at once`() async throws {
        let database = place.database
        let made = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<4 {
                group.addTask { try PostgresEventLog.create(database, pepper: [1]) == .made }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(made == 1)
        #expect(
            cause { _ = try PostgresEventLog.create(database, pepper: [2]) }.contains(
                "another pepper"))
        #expect(cause { _ = try open(pepper: [2]) }.contains("another pepper"))
        try ask("UPDATE \(schema).about SET version = 99")
        #expect(cause { _ = try open() }.contains("run the newer tombolo"))
        try ask("UPDATE \(schema).about SET version = 5")
        #expect(cause { _ = try open() }.contains("log export"))
        try ask("UPDATE \(schema).about SET version = 6, program = 'other'")
        #expect(cause { _ = try open() }.contains("another program"))
        place.drop()
        #expect(cause { _ = try open() }.contains("tombolo log create"))
        #expect(PostgresDatabase.objection(toSchema: "information_schema") != nil)
        var reserved = database
        reserved.schema = "user"
        #expect(try PostgresEventLog.create(reserved, pepper: [1]) == .made)
        try ask("DROP SCHEMA \"user\" CASCADE")
        try ask("CREATE SCHEMA \(schema)")
        try ask("CREATE TABLE \(schema).owner(id int)")
        #expect(
            cause { _ = try PostgresEventLog.create(database, pepper: [1]) }.contains(
                "another program"))
        place.drop()
    }

    @Test func `an import that was cut short begins again`() throws {
        _ = try PostgresEventLog.create(place.database, pepper: [1])
        defer { place.drop() }
        let source = LogPlace(.memory)
        var activities = SampleActivities()
        let writer = try source.writer()
        for first in stride(from: Int64(0), to: 3_000, by: 1_000) {
            let events = (0..<1_000).map { activities.next(first + $0, "{}", at: Sample.noon) }
            _ = try writer.store([activities.batch(events)])[0].get()
        }
        let items = try source.items()
        var chance = SplitMix64(seed: 1)
        for end in [items.count / 2, items.count] {
            let taking = try PostgresEventLog.importing(
                place.database, pepper: nil, clock: PostgresPlace.clock, chance: &chance)
            for item in items[..<end] { try taking.take(item) }
            guard end == items.count else { continue }
            try taking.finish()
        }
        #expect(try LogVerification(place.reading()).run { _ in }.wrong == [])
        #expect(
            cause {
                _ = try PostgresEventLog.importing(
                    place.database, pepper: nil, clock: PostgresPlace.clock, chance: &chance)
            }.contains("has a log already"))
        #expect(try LogVerification(place.reading()).run { _ in }.events == 3_000)
    }

    // MARK: The owner

    @Test func `one relay owns a log; one that is gone is followed`() async throws {
        _ = try PostgresEventLog.create(place.database, pepper: [1])
        defer { place.drop() }
        let first = try open()
        #expect(cause { _ = try open() }.contains("another relay ("))
        _ = try await first.append(Self.batch(1))
        await first.close()
        let second = try open()
        #expect(second.lastRun == nil, "the first one handed it on")
        _ = try await second.append(Self.batch(2))
        // Its beats come no more, as where its machine is gone.
        try ask("UPDATE \(schema).owner SET holder = holder || '-gone'")
        let third = try open()
        #expect(third.lastRun != nil)
        await #expect(throws: EventLogError.self) { try await second.append(Self.batch(3)) }
        _ = try await third.append(Self.batch(3))
        #expect(try await third.history(after: 0, limit: 10).count == 3)
        await third.close()
    }

    @Test func `a reader that lost its connection asks once more`() async throws {
        _ = try PostgresEventLog.create(place.database, pepper: [1])
        defer { place.drop() }
        let log = try open()
        _ = try await log.append(Self.batch(1))
        for _ in 0..<2 {
            #expect(try await log.history(after: 0, limit: 10).count == 1)
            // All but the writer, whose newest statement ends a transaction.
            try ask(
                """
                SELECT pg_terminate_backend(pid) FROM pg_stat_activity a, \(schema).owner o
                WHERE application_name = 'tombolo ' || o.epoch || ' ' || o.holder
                    AND query NOT LIKE 'COMMIT%'
                """)
        }
        #expect(try await log.history(after: 0, limit: 10).count == 1)
        _ = try await log.append(Self.batch(2))
        await log.close()
    }

    @Test func `a full disk of the server refuses, and stores when it is free`() async throws {
        _ = try PostgresEventLog.create(place.database, pepper: [1])
        defer { place.drop() }
        let log = try open()
        _ = try await log.append(Self.batch(1))
        // As the server says it; a disk of its own to fill needs root.
        try ask(
            """
            CREATE FUNCTION \(schema).no_space() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'no space' USING ERRCODE = '53100'; END $$
            """)
        try ask(
            """
            CREATE TRIGGER no_space BEFORE INSERT ON \(schema).event
            EXECUTE FUNCTION \(schema).no_space()
            """)
        let error = await #expect(throws: EventLogError.self) {
            try await log.append(Self.batch(2))
        }
        #expect(error == .full(hint: PostgresError.roomHint))
        try ask("DROP TRIGGER no_space ON \(schema).event")
        #expect(try await log.append(Self.batch(2)).firstSeq == 2)
        await log.close()
    }

    @Test func `an import beside another one is refused, and takes nothing away`() throws {
        _ = try PostgresEventLog.create(place.database, pepper: [1])
        defer { place.drop() }
        var chance = PostgresPlace.newChance()
        let first = try PostgresEventLog.importing(
            place.database, pepper: nil, clock: PostgresPlace.clock, chance: &chance)
        try first.take(.identity(hashKey: [1, 2], restoredAt: nil))
        #expect(
            cause {
                _ = try PostgresEventLog.importing(
                    place.database, pepper: nil, clock: PostgresPlace.clock, chance: &chance)
            }.contains("another relay ("))
        try first.take(.end(items: 1))
        try first.finish()
        #expect(try LogVerification(place.reading()).run { _ in }.wrong == [])
    }

    @Test func `rows of the owner and of transactions that no relay wrote are named`() throws {
        _ = try PostgresEventLog.create(place.database, pepper: [1])
        defer { place.drop() }
        try ask("DELETE FROM \(schema).batch")
        #expect(cause { _ = try open() }.contains("no transaction of the log"))
        try ask("INSERT INTO \(schema).batch VALUES (9223372036854775807)")
        #expect(cause { _ = try open() }.contains("no transaction of the log"))
        try ask("UPDATE \(schema).owner SET epoch = 9223372036854775807, holder = ''")
        #expect(cause { _ = try open() }.contains("the tables owner and beat have"))
    }

    @Test func `after a log went back, the owner of before leaves a new one alone`() async throws {
        _ = try PostgresEventLog.create(place.database, pepper: [1])
        defer { place.drop() }
        let before = try open()
        _ = try await before.append(Self.batch(1))
        // As a backup of before any relay has it.
        try ask("UPDATE \(schema).owner SET epoch = 0, holder = ''")
        let new = try open()
        _ = try await new.append(Self.batch(2))
        await #expect(throws: EventLogError.self) { try await before.append(Self.batch(2)) }
        _ = try await new.append(Self.batch(3))
        await before.close()
        await new.close()
    }

    @Test func `a log that went back counts as restored`() async throws {
        _ = try PostgresEventLog.create(place.database, pepper: [1])
        defer { place.drop() }
        let log = try open()
        let first = try await log.recover(idempotencySince: .distantPast)
        #expect(first.restoredAt == nil)
        _ = try await log.append(Self.batch(1))
        try ask("DELETE FROM \(schema).batch WHERE key > 1")
        await #expect(throws: EventLogError.self) { try await log.append(Self.batch(2)) }
        await log.close()
        let next = try open()
        #expect(try await next.recover(idempotencySince: .distantPast).restoredAt != nil)
        await next.close()
        var chance = PostgresPlace.newChance()
        try PostgresEventLog.setRestored(
            place.database, clock: PostgresPlace.clock, chance: &chance)
        let last = try open()
        _ = try await last.append(Self.batch(2))
        await last.close()
    }

    private static func batch(_ version: Int64) -> AppendBatch {
        SampleActivities.batch(ofVersion: version)
    }
}
#endif
