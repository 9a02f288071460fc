#if Postgres
import Testing
import TomboloEventLog

@testable import TomboloPostgres

/// What `config check --connect` and `doctor` say of a database.
@Suite(.enabled(if: PostgresPlace.isThere)) struct PostgresExaminationTests {
    private let place = PostgresPlace()
    private var schema: String { place.database.schema }

    /// The name of each check, and its remedy where it found trouble.
    private func examine(_ pepper: [UInt8] = [1], user: String? = nil) -> [String] {
        var database = place.database
        if let user { database.words["user"] = user }
        return PostgresEventLog.examine(database, pepper: pepper).map { finding in
            finding.hint.map { "\(finding.check): \(finding.detail): \($0)" } ?? finding.check
        }
    }

    @Test func `a database is examined up to what is missing`() throws {
        defer { place.drop() }
        #expect(examine().last?.contains("make one: tombolo log create") == true)
        _ = try PostgresEventLog.create(place.database, pepper: [1])
        #expect(examine() == ["database", "schema", "rights"])
        #expect(examine([2]).last?.contains("another pepper") == true)
        let lines = [
            "CREATE ROLE \(schema) LOGIN", "GRANT USAGE ON SCHEMA \(schema) TO \(schema)",
            "GRANT SELECT ON ALL TABLES IN SCHEMA \(schema) TO \(schema)",
            "GRANT INSERT, UPDATE ON \(schema).owner TO \(schema)",
        ]
        let connection = try PostgresConnection(place.database)
        for line in lines { _ = try connection.ask(line) }
        let text = examine(user: schema).last
        #expect(text?.contains("INSERT, UPDATE, DELETE on about") == true, "\(text ?? "")")
        #expect(text?.contains("; DELETE on owner") == true, "\(text ?? "")")
        _ = try connection.ask("DROP OWNED BY \(schema)")
        _ = try connection.ask("DROP ROLE \(schema)")
    }

    @Test func `a log whose making has no answer may be made`() throws {
        let other = try PostgresConnection(place.database)
        _ = try other.ask([PostgresQuestion("BEGIN"), PostgresQuestion("CREATE SCHEMA \(schema)")])
        let connection = try PostgresConnection(
            place.database, PostgresPatience(milliseconds: 300, looks: false))
        let error = #expect(throws: EventLogError.self) {
            try PostgresSchema.create(connection, pepper: [1])
        }
        #expect("\(error as Any)".contains("outcomeUnknown("))
    }
}
#endif
