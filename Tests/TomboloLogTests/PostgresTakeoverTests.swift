#if Postgres
import Glibc
import Synchronization
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog
@testable import TomboloPostgres

/// One relay after another on a log: who may take it, and when.
@Suite(.enabled(if: PostgresPlace.isThere)) struct PostgresTakeoverTests {
    private let place: PostgresPlace
    private var schema: String { place.database.schema }

    init() throws {
        place = PostgresPlace()
        _ = try PostgresEventLog.create(place.database, pepper: [1])
    }

    private func database(_ lease: Int64) -> PostgresDatabase {
        var database = place.database
        database.leaseMilliseconds = lease
        return database
    }

    private func open(lease: Int64 = 3_000) throws -> PostgresEventLog.Opened {
        var chance = PostgresPlace.newChance()
        return try PostgresEventLog.open(
            database(lease), pepper: [1], retention: .forever, caution: LogCaution(),
            clock: PostgresPlace.clock, chance: &chance)
    }

    private func standby(lease: Int64 = 3_000) throws -> PostgresStandby {
        var chance = PostgresPlace.newChance()
        return try PostgresStandby(
            database(lease), pepper: [1], clock: PostgresPlace.clock,
            reading: { ("other-boot", 7) },
            chance: chance.next())
    }

    @Test func `an owner whose tables are locked beats on, and keeps its log`() async throws {
        defer { place.drop() }
        let opened = try open()
        let locking = try PostgresConnection(place.database)
        _ = try locking.ask([
            PostgresQuestion("BEGIN"),
            PostgresQuestion(
                "LOCK TABLE \(schema).retired, \(schema).event IN ACCESS EXCLUSIVE MODE"),
        ])
        let standby = try standby()
        poll(nil, 0, 5_000)
        let owner = try PostgresOwner(PostgresConnection(place.database))
        #expect(owner.epoch == 1 && owner.beat > 4)
        #expect(standby.owner?.holder == owner.holder)
        #expect(opened.trust.holds && opened.trust.lost == nil)
        standby.end()
        await #expect(throws: EventLogError.closed) { _ = try await standby.taken() }
        try locking.rollBack()
        _ = try await opened.log.append(SampleActivities.batch(ofVersion: 1))
        await opened.log.close()
    }

    @Test func `a relay that waits takes the log at once when it is handed on`() async throws {
        defer { place.drop() }
        let first = try standby(lease: 60_000)
        let chance = PostgresPlace.newChance()
        var opened: PostgresEventLog.Opened? = try await first.openLog(
            try await first.taken(), retention: .forever, caution: LogCaution(), chance: chance)
        _ = try await opened?.log.append(SampleActivities.batch(ofVersion: 1))
        let standby = try standby(lease: 60_000)
        while standby.owner == nil { poll(nil, 0, 20) }
        await opened?.log.close()
        opened = nil
        let began = PostgresPlace.clock()
        let second = try await standby.openLog(
            try await standby.taken(), retention: .forever, caution: LogCaution(),
            chance: chance)
        #expect(PostgresPlace.clock() - began < 30)
        #expect(second.log.lastRun == nil)
        #expect(second.lastReading?.boot == "other-boot")
        #expect(try await second.log.history(after: 0, limit: 10).count == 1)
        await second.log.close()
    }

    @Test func `a successor knows what the clock of the other machine says`() async throws {
        defer { place.drop() }
        let first = try standby()
        let taken = try await first.taken()
        let chance = PostgresPlace.newChance()
        let opened = try await first.openLog(
            taken, retention: .forever, caution: LogCaution(), chance: chance)
        while try PostgresOwner(PostgresConnection(place.database)).beat == 0 {
            poll(nil, 0, 20)
        }
        // Its machine is gone.
        try place.ask("UPDATE \(schema).owner SET holder = holder || '-gone'")
        let second = try open()
        let reading = try #require(second.lastReading)
        #expect(reading.boot == "other-boot")
        // The last heartbeat is as long ago as nobody beat.
        #expect((3_000_000_000...9_000_000_000).contains(reading.nanoseconds))
        let error = await #expect(throws: EventLogError.self) {
            try await opened.log.append(SampleActivities.batch(ofVersion: 1))
        }
        guard case .owned(let cause, _) = error else {
            Issue.record("\(error as Any)")
            return
        }
        let holder = try PostgresOwner(PostgresConnection(place.database)).holder
        #expect(cause.contains("another relay (\(holder), since"))
        #expect(opened.trust.lost != nil && !opened.trust.holds)
        await opened.log.close()
        await second.log.close()
    }

    @Test func `only sessions of the same role are ended`() throws {
        defer { place.drop() }
        try place.ask("CREATE ROLE \(schema) LOGIN")
        defer { #expect(throws: Never.self) { try place.ask("DROP ROLE \(schema)") } }
        var others = place.database
        others.words["user"] = schema
        let name = PostgresOwner.name(1, "owner") + PostgresOwner.writerEnd
        let other = try PostgresConnection(others, name: name)
        let own = try PostgresConnection(place.database, name: name)
        try place.ask("UPDATE \(schema).owner SET epoch = 1, holder = 'owner'")
        let control = try PostgresConnection(place.database)
        try PostgresOwner(control).endConnections(control)
        #expect(throws: EventLogError.self) { _ = try own.ask("SELECT pg_sleep(1)") }
        #expect(try other.ask("SELECT 1").count == 1)
    }

    @Test func `log create adds to a schema of an older version what this one needs`() async throws
    {
        defer { place.drop() }
        try place.ask(
            "DROP TABLE \(schema).beat",
            """
            ALTER TABLE \(schema).owner ADD beat bigint NOT NULL DEFAULT 0,
                ADD beaten timestamptz NOT NULL DEFAULT now()
            """)
        let error = #expect(throws: EventLogError.self) { _ = try open() }
        guard case .unusable(_, let hint) = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(hint.contains("tombolo log create --config FILE"))
        #expect(try PostgresEventLog.create(place.database, pepper: [1]) == .completed)
        #expect(try PostgresEventLog.create(place.database, pepper: [1]) == .exists)
        let opened = try open()
        _ = try await opened.log.append(SampleActivities.batch(ofVersion: 1))
        await opened.log.close()
    }

    @Test func `only reads without a break tell that an owner is gone`() {
        func owner(_ beat: Int64, holder: String = "owner", lease: Double = 3) -> PostgresOwner {
            PostgresOwner(
                epoch: 1, holder: holder, since: Sample.noon, beat: beat, beaten: Sample.noon,
                lease: lease, reading: ("", 0), now: Sample.noon)
        }
        var watch = PostgresWatch(lease: 3)
        #expect(watch.mayTake(owner(1, holder: ""), at: 0) == true)
        #expect(watch.mayTake(owner(1), at: 0) == false)
        for step in 1..<6 { #expect(watch.mayTake(owner(1), at: Double(step) / 2) == false) }
        #expect(watch.mayTake(owner(1), at: 3) == true)
        // A new heartbeat, a break, a longer lease of the owner.
        #expect(watch.mayTake(owner(2), at: 3.5) == false)
        #expect(watch.mayTake(owner(2), at: 5) == false)
        #expect(watch.mayTake(owner(2), at: 6.6) == false)
        for step in 1...9 {
            #expect(watch.mayTake(owner(2, lease: 5), at: 6.6 + Double(step) / 2) == false)
        }
        #expect(watch.mayTake(owner(2, lease: 5), at: 11.6) == true)
    }

    @Test func `trust ends a second before the lease`() {
        let now = Mutex(100.0)
        let trust = PostgresTrust({ now.withLock { $0 } }, lease: 5)
        #expect(trust.holds)
        now.withLock { $0 = 103.9 }
        #expect(trust.holds)
        now.withLock { $0 = 104 }
        #expect(!trust.holds)
        trust.renew(from: 101)
        #expect(trust.holds)
        // An older success takes nothing away.
        trust.renew(from: 90)
        #expect(trust.holds)
    }
}
#endif
