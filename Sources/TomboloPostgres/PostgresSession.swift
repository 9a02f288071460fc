#if Postgres
import TomboloEventLog

/// The settings that a session depends on. They are set after connecting, whatever the defaults of
/// the role and the database are, and then checked.
enum PostgresSession {
    /// In the format of PostgreSQL's `server_version_num`.
    static let oldestServer: Int32 = 140_000

    /// Names and values of the settings, as `current_setting` returns them.
    static func settings(
        _ durability: PostgresDatabase.Durability, server: Int32
    ) -> [(name: String, value: String)] {
        var settings = [
            // If a commit stops waiting for a standby, the server reports that as a warning.
            ("client_min_messages", "warning"),
            ("synchronous_commit", durability == .local ? "local" : "on"),
            ("default_transaction_isolation", "read committed"),
            ("default_transaction_read_only", "off"),
            ("default_transaction_deferrable", "off"),
            ("statement_timeout", "0"), ("lock_timeout", "0"),
            ("idle_in_transaction_session_timeout", "0"), ("idle_session_timeout", "0"),
            ("client_encoding", "UTF8"), ("search_path", "pg_catalog"), ("row_security", "off"),
            // Every statement uses a primary key. So plans stay the same when a table grows.
            ("enable_seqscan", "off"), ("enable_bitmapscan", "off"), ("jit", "off"),
        ]
        if server >= 170_000 { settings.append(("transaction_timeout", "0")) }
        return settings
    }

    static func settle(_ connection: PostgresConnection) throws(EventLogError) {
        let database = connection.database
        let settings = settings(database.durability, server: connection.serverVersion)
        let names = settings.map { "('\($0.name)', '\($0.value)')" }.joined(separator: ", ")
        let answers = try connection.ask([
            PostgresQuestion(
                "SELECT pg_catalog.set_config(n, v, false) FROM (VALUES \(names)) AS s(n, v)"),
            PostgresQuestion(
                """
                SELECT n FROM (VALUES \(names)) AS s(n, v)
                WHERE pg_catalog.current_setting(n) <> v
                """),
            PostgresQuestion(
                """
                SELECT pg_catalog.pg_backend_pid()::pg_catalog.int8,
                    pg_catalog.current_setting('fsync'),
                    pg_catalog.current_setting('full_page_writes'),
                    pg_catalog.current_setting('synchronous_standby_names')
                """),
        ])
        if answers[1].count > 0 {
            throw database.refused(
                "does not take \(answers[1].text(0, 0)) from this session",
                "let the relay's role set it: a log rests on it")
        }
        let server = answers[2]
        connection.process = server.integer(0, 0)
        guard connection.process == connection.backend || database.isPooled else {
            throw database.refused(
                "is behind a pooler",
                "connect to the server itself; or, where each connection has a session of its own "
                    + "(pool_mode = session), say \"pooler\": \"session\"")
        }
        for (column, name) in [(Int32(1), "fsync"), (2, "full_page_writes")]
        where server.text(0, column) == "off" && !database.takesUnsafeServer {
            throw database.refused(
                "has \(name) = off: it loses what it acknowledged when its machine ends",
                "set \(name) = on")
        }
        guard database.durability == .local || !server.text(0, 3).isEmpty else {
            throw database.refused(
                "has no synchronous standby, and \"durability\" is \"standby\"",
                "set synchronous_standby_names, or \"durability\": \"local\"")
        }
    }

}
#endif
