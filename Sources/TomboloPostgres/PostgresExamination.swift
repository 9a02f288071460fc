import TomboloEventLog

#if Postgres
import TomboloLog
#endif

/// What one check of a database has found.
package struct PostgresFinding: Hashable, Sendable {
    /// What was examined: `database`, `schema`, `rights` or `beat`.
    package let check: String
    package let isOK: Bool
    package let detail: String
    /// The remedy, if possible as a command; nil if all is well.
    package let hint: String?

    init(_ check: String, _ detail: String, hint: String? = nil) {
        (self.check, self.detail, self.hint) = (check, detail, hint)
        isOK = hint == nil
    }

    init(_ check: String, _ error: EventLogError) {
        switch error {
        case .unusable(let cause, let hint), .owned(let cause, let hint),
            .unavailable(let cause, let hint):
            self.init(check, cause, hint: hint)
        case .full(let hint): self.init(check, "the disk is full", hint: hint)
        default: self.init(check, "\(error)", hint: "look at the server's log")
        }
    }
}

extension PostgresEventLog {
    #if Postgres
    /// Tries whether a relay can use this database: the server and its settings, the schema, the
    /// secret, and the rights of this role. It only reads, so a relay may run meanwhile. Blocks the
    /// thread until the server answers.
    ///
    /// - Parameter pepper: a value to check the secret of the API keys with; nil to leave that out.
    package static func examine(
        _ database: PostgresDatabase, pepper: [UInt8]?
    ) -> [PostgresFinding] {
        var findings: [PostgresFinding] = []
        var check = "database"
        do throws(EventLogError) {
            let connection = try PostgresConnection(database)
            findings.append(PostgresFinding(check, server(connection)))
            check = "schema"
            try PostgresSchema.require(connection, pepper: pepper)
            let secret = pepper == nil ? "" : ", and the pepper is that of its keys"
            findings.append(
                PostgresFinding(check, "\(database.schema) has form \(LogTable.form)\(secret)"))
            check = "rights"
            findings.append(try rights(connection))
            check = "beat"
            findings += try beat(connection)
        } catch {
            findings.append(PostgresFinding(check, error))
        }
        return findings
    }

    private static func server(_ connection: PostgresConnection) -> String {
        let version = "\(connection.serverVersion / 10_000).\(connection.serverVersion % 10_000)"
        let place =
            switch connection.database.durability {
            case .local: "is on the server's disk"
            case .standby: "is on the server's disk and a synchronous standby's"
            }
        let promise = "a commit \(place) before it is acknowledged"
        return "\(connection.database.title) has version \(version): \(promise)"
    }

    private static func rights(
        _ connection: PostgresConnection
    ) throws(EventLogError) -> PostgresFinding {
        let answer = try connection.ask(
            """
            SELECT t.relname::text, string_agg(r.name, ', '), current_user::text
            FROM pg_class t, unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS r(name)
            WHERE t.relkind = 'r' AND NOT has_table_privilege(t.oid, r.name)
                AND t.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1::text)
            GROUP BY t.relname ORDER BY t.relname
            """, name(of: connection))
        guard answer.count > 0 else {
            return PostgresFinding("rights", "this role reads and writes all tables of the log")
        }
        let missing = (0..<answer.count).map { "\(answer.text($0, 1)) on \(answer.text($0, 0))" }
        return PostgresFinding(
            "rights", "the role \(answer.text(0, 2)) lacks \(missing.joined(separator: "; "))",
            hint: "give the relay's role its rights: deploy/postgres/roles.sql")
    }

    /// A finding if the table is missing, as in the log of an older program.
    private static func beat(
        _ connection: PostgresConnection
    ) throws(EventLogError) -> [PostgresFinding] {
        let answer = try connection.ask(
            "SELECT 1 FROM pg_tables WHERE schemaname = $1::text AND tablename = 'beat'",
            name(of: connection))
        guard answer.count == 0 else { return [] }
        return [
            PostgresFinding(
                "beat", "the log has no table beat, as an older tombolo made it",
                hint: "add it, as the tables' owner: tombolo log create --config FILE")
        ]
    }

    private static func name(of connection: PostgresConnection) -> PostgresValues {
        var values = PostgresValues()
        values.add(connection.database.schema)
        return values
    }
    #else
    /// Finds that this build has no PostgreSQL.
    package static func examine(
        _ database: PostgresDatabase, pepper: [UInt8]?
    ) -> [PostgresFinding] { [PostgresFinding("database", absent)] }
    #endif
}
