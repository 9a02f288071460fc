#if Postgres
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog

@testable import TomboloLog
@testable import TomboloPostgres

/// What each kind of error of the server means for a log: a real server raises it within a commit.
@Suite(.enabled(if: PostgresPlace.isThere)) struct PostgresMeaningTests {
    /// What each code has to mean. A class is tried with 000, which no rule has.
    private static let expected: [String: PostgresMeaning] = [
        "40000": .again, "55P03": .again, "57014": .again, "53200": .again, "53100": .full,
        "53300": .refused, "53000": .refused, "40003": .unknown, "08000": .unknown,
        "57000": .unknown, "25006": .unknown, "28000": .refused, "3D000": .refused,
        "42501": .refused, "42P05": .refused, "26000": .refused, "42000": .refused,
        "3F000": .refused, "58000": .refused, "XX000": .refused,
    ]

    /// Each code of the table.
    static let states = PostgresRule.table.flatMap { rule in
        rule.states.map { $0.count == 2 ? $0 + "000" : $0 }
    }

    @Test(arguments: states)
    func `an ERROR within a commit stores nothing, and goes on by its row`(state: String)
        async throws
    {
        let (place, log) = try Self.open()
        defer { place.drop() }
        _ = try await log.append(Self.batch(1))
        let meaning = PostgresError(state: state, message: "").meaning
        #expect(meaning == Self.expected[state])
        // It comes twice: a sequence counts also what is rolled back.
        try place.ask(
            "CREATE SEQUENCE \(place.database.schema).tries",
            """
            CREATE FUNCTION \(place.database.schema).refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN
                IF nextval('\(place.database.schema).tries') <= 2 THEN
                    RAISE EXCEPTION 'the words of the server' USING ERRCODE = '\(state)';
                END IF;
                RETURN NEW;
            END $$
            """,
            """
            CREATE TRIGGER refuse BEFORE INSERT ON \(place.database.schema).event
            EXECUTE FUNCTION \(place.database.schema).refuse()
            """)
        switch meaning {
        case .again, .unknown: break
        case .full, .refused:
            for _ in 0..<2 {
                let error = await #expect(throws: EventLogError.self) {
                    try await log.append(Self.batch(2))
                }
                switch error {
                case .full(let hint): #expect(meaning == .full && hint == PostgresError.roomHint)
                case .unavailable(let cause, let hint):
                    #expect(meaning == .refused && !hint.isEmpty)
                    #expect(cause.contains("the words of the server (SQLSTATE \(state))"))
                default: Issue.record("\(state): \(error as Any)")
                }
            }
        }
        #expect(try await log.append(Self.batch(2)).firstSeq == 2)
        #expect(try await log.history(after: 0, limit: 10).count == 2)
        await log.close()
    }

    @Test func `what ends a session leaves its outcome unknown, whatever the code`() {
        for state in Self.states + ["", "99999"] {
            var error = PostgresError(state: state, message: "")
            error.isFatal = true
            #expect(error.meaning == .unknown, "\(state)")
            (error.isFatal, error.isLost) = (false, true)
            #expect(error.meaning == .unknown, "\(state)")
        }
        #expect(PostgresError(state: "99999", message: "").meaning == .refused)
        #expect(PostgresError(message: "").meaning == .unknown)
    }

    @Test func `an error that does not pass is refused after some tries`() async throws {
        let (place, log) = try Self.open()
        defer { place.drop() }
        try place.ask(
            """
            CREATE FUNCTION \(place.database.schema).refuse() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN RAISE EXCEPTION 'deadlock' USING ERRCODE = '40P01'; END $$
            """,
            """
            CREATE TRIGGER refuse BEFORE INSERT ON \(place.database.schema).event
            EXECUTE FUNCTION \(place.database.schema).refuse()
            """)
        let error = await #expect(throws: EventLogError.self) {
            try await log.append(Self.batch(1))
        }
        guard case .unavailable = error else {
            Issue.record("\(error as Any)")
            return
        }
        try place.ask("DROP TRIGGER refuse ON \(place.database.schema).event")
        #expect(try await log.append(Self.batch(1)).firstSeq == 1)
        await log.close()
    }

    @Test func `a commit that takes long is waited for, while the server works on it`() async throws
    {
        let place = PostgresPlace()
        _ = try PostgresEventLog.create(place.database, pepper: [1])
        defer { place.drop() }
        let lease = try PostgresLease(
            PostgresConnection(place.database, PostgresPatience(milliseconds: 200)),
            holder: "slow", PostgresPlace.clock)
        var chance = PostgresPlace.newChance()
        let log = try PostgresEventLog.opened(
            place.database, lease, retention: .forever, caution: LogCaution(), chance: &chance
        ).log
        _ = try await log.append(Self.batch(1))
        try place.ask(
            "CREATE SEQUENCE \(place.database.schema).tries",
            """
            CREATE FUNCTION \(place.database.schema).wait() RETURNS trigger LANGUAGE plpgsql AS
            $$ BEGIN
                PERFORM nextval('\(place.database.schema).tries');
                PERFORM pg_sleep(2);
                RETURN NEW;
            END $$
            """,
            """
            CREATE TRIGGER wait BEFORE INSERT ON \(place.database.schema).event
            EXECUTE FUNCTION \(place.database.schema).wait()
            """)
        #expect(try await log.append(Self.batch(2)).firstSeq == 2)
        let tries = try PostgresConnection(place.database).ask(
            "SELECT last_value FROM \(place.database.schema).tries")
        #expect(tries.integer(0, 0) == 1, "it is ended and sent again")
        await log.close()
    }

    private static func open() throws -> (PostgresPlace, EngineEventLog) {
        let place = PostgresPlace()
        _ = try PostgresEventLog.create(place.database, pepper: [1])
        var chance = PostgresPlace.newChance()
        let opened = try PostgresEventLog.open(
            place.database, pepper: [1], retention: .forever, caution: LogCaution(),
            clock: PostgresPlace.clock, chance: &chance)
        return (place, opened.log)
    }

    private static func batch(_ version: Int64) -> AppendBatch {
        SampleActivities.batch(ofVersion: version)
    }
}
#endif
