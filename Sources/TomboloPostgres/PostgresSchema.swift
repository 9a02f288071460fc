#if Postgres
import TomboloEventLog
import TomboloLog

/// The log's tables in a schema, and their creation. The table `about` has one row: the program's
/// name, the version of the tables, a value to check the secret of the API keys with, and whether
/// an import is incomplete.
enum PostgresSchema {
    private static let program = "tombolo"

    /// Creates the schema and its tables in one transaction, or adds what an older version lacks.
    /// Throws if the schema has other tables, and `.outcomeUnknown` if the connection was lost
    /// before the server confirmed.
    static func create(
        _ connection: PostgresConnection, pepper check: [UInt8]
    ) throws(EventLogError) -> PostgresEventLog.Creation {
        // Two processes may do this at the same time. The second one fails because a name is taken;
        // it tries again and finds the tables.
        for _ in 0..<3 {
            if let about = try about(connection) {
                try require(about, pepper: check, connection.database)
                return try complete(connection)
            }
            do throws(PostgresError) {
                try make(connection, check)
                return .made
            } catch {
                let cause = "\(connection.database.title): \(error.message)"
                do throws(EventLogError) { try connection.rollBack() } catch {
                    // The connection is lost, and nobody knows what became of the COMMIT.
                    throw .outcomeUnknown(cause: cause)
                }
                let states = [
                    PostgresError.State.uniqueViolation, PostgresError.State.duplicateSchema,
                    PostgresError.State.duplicateTable,
                ]
                guard states.contains(error.state) else {
                    throw error.logError(connection.database)
                }
            }
        }
        throw connection.database.refused(
            "has tables of another program in this schema",
            "name a schema of the log's own: \"schema\": \"tombolo\"")
    }

    private static func make(
        _ connection: PostgresConnection, _ check: [UInt8]
    ) throws(PostgresError) {
        let schema = connection.database.quotedSchema
        var name = PostgresValues()
        name.add(connection.database.schema)
        let named = try connection.answers([
            PostgresQuestion("SELECT 1 FROM pg_namespace WHERE nspname = $1::text", name)
        ])
        let isThere = named.contains { $0.count > 0 }
        var lines = isThere ? [] : ["CREATE SCHEMA \(schema)"]
        lines += [
            """
            CREATE TABLE \(schema).about(program text NOT NULL, version bigint NOT NULL,
                pepper text NOT NULL, importing boolean NOT NULL)
            """,
            """
            CREATE TABLE \(schema).owner(epoch bigint PRIMARY KEY, holder text NOT NULL,
                since timestamptz NOT NULL)
            """,
            "INSERT INTO \(schema).owner VALUES (0, '', now())",
        ]
        lines += beat(schema)
        lines += [
            "CREATE TABLE \(schema).batch(key bigint PRIMARY KEY)",
            "INSERT INTO \(schema).batch VALUES (0)",
            "INSERT INTO \(schema).about VALUES ('\(program)', \(LogTable.form), '\(hex(check))', false)",
        ]
        for kind in LogTable.Kind.allCases {
            lines += LogTable.creation(kind, in: schema).split(separator: ";").map(String.init)
        }
        _ = try connection.answers(
            [PostgresQuestion("BEGIN")] + lines.map { PostgresQuestion($0) }
                + [PostgresQuestion("COMMIT")])
    }

    /// The table of the heartbeats: one row, which is replaced each second. It is not in the table
    /// of owners, because each transaction of the log reads that one: while somebody holds a
    /// snapshot, each heartbeat would make that dearer.
    private static func beat(_ schema: String) -> [String] {
        [
            """
            CREATE TABLE \(schema).beat(epoch bigint PRIMARY KEY, holder text NOT NULL,
                beat bigint NOT NULL, lease bigint NOT NULL, beaten timestamptz NOT NULL,
                boot text NOT NULL, steady bigint NOT NULL) WITH (fillfactor = 10)
            """,
            "INSERT INTO \(schema).beat VALUES (0, '', 0, 0, now(), '', 0)",
        ]
    }

    /// Adds the table of the heartbeats to a schema of an older version. The older heartbeats lose
    /// their place, so that no older relay takes the log from a newer one.
    private static func complete(
        _ connection: PostgresConnection
    ) throws(EventLogError) -> PostgresEventLog.Creation {
        let schema = connection.database.quotedSchema
        let isThere =
            try connection.ask(
                "SELECT 1 WHERE to_regclass('\(schema).beat') IS NOT NULL"
            ).count > 0
        guard !isThere else {
            // An owner's row that is lost has no heartbeats to lose.
            let added = try connection.ask(
                """
                INSERT INTO \(schema).beat SELECT 0, '', 0, 0, now(), '', 0
                WHERE NOT EXISTS (SELECT 1 FROM \(schema).beat) RETURNING 1
                """)
            return added.count > 0 ? .completed : .exists
        }
        let lines =
            beat(schema) + ["ALTER TABLE \(schema).owner DROP COLUMN beat, DROP COLUMN beaten"]
        _ = try connection.ask(
            [PostgresQuestion("BEGIN")] + lines.map { PostgresQuestion($0) }
                + [PostgresQuestion("COMMIT")])
        return .completed
    }

    private struct About {
        var program = ""
        var version: Int64 = 0
        var pepper = ""
        var isImporting = false
    }

    /// The row of the table `about`; nil if there is no such table.
    private static func about(_ connection: PostgresConnection) throws(EventLogError) -> About? {
        do throws(PostgresError) {
            let answer = try connection.answers([
                PostgresQuestion(
                    "SELECT program, version, pepper, importing::int4::int8 "
                        + "FROM \(connection.database.quotedSchema).about")
            ]).first
            guard let answer, answer.count == 1 else { return About() }
            return About(
                program: answer.text(0, 0), version: answer.integer(0, 1),
                pepper: answer.text(0, 2), isImporting: answer.integer(0, 3) != 0)
        } catch {
            if error.state == PostgresError.State.undefinedTable { return nil }
            if error.state == PostgresError.State.undefinedColumn { return About() }
            throw error.logError(connection.database)
        }
    }

    /// Throws if the schema belongs to another program, version or secret, or is incomplete.
    ///
    /// - Parameters:
    ///   - check: value to check the secret with; nil for readers, which need no API keys.
    ///   - isImport: true to accept an interrupted import, which will start again.
    static func require(
        _ connection: PostgresConnection, pepper check: [UInt8]?, isImport: Bool = false
    ) throws(EventLogError) {
        let database = connection.database
        guard let about = try about(connection) else {
            throw database.refused(
                "has no log", "make one: tombolo log create --config FILE")
        }
        try require(about, pepper: check, database)
        guard about.isImporting, !isImport else { return }
        throw database.refused(
            "has a log whose import has not come to its end",
            "run the import again: it starts from the beginning")
    }

    private static func require(
        _ about: About, pepper check: [UInt8]?, _ database: PostgresDatabase
    ) throws(EventLogError) {
        guard about.program == program else {
            throw database.refused(
                "has the tables of another program",
                "name a schema of the log's own: \"schema\": \"tombolo\"")
        }
        guard about.version == LogTable.form else {
            throw database.refused(
                "has form \(about.version) of the log; this program reads \(LogTable.form)",
                about.version > LogTable.form
                    ? "run the newer tombolo that made it"
                    : "export it with the tombolo that made it (tombolo log export), and import "
                        + "that into a new schema (tombolo log import)")
        }
        guard let check, hex(check) != about.pepper else { return }
        throw database.refused(
            "was made with another pepper: no API key of it would open",
            "copy the pepper file of the relay that made it")
    }

    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// Stores that an import begins or is complete. When it begins, all rows are deleted.
    static func setImporting(
        _ isImporting: Bool, _ connection: PostgresConnection
    ) throws(EventLogError) {
        let schema = connection.database.quotedSchema
        var lines = ["UPDATE \(schema).about SET importing = \(isImporting)"]
        if isImporting {
            lines += LogTable.Kind.allCases.map { "DELETE FROM \(LogTable.name($0, in: schema))" }
        }
        _ = try connection.ask(
            [PostgresQuestion("BEGIN")] + lines.map { PostgresQuestion($0) }
                + [PostgresQuestion("COMMIT")])
    }

    /// True if an import may fill the log: nothing was ever written, or an import broke off.
    static func isEmpty(_ connection: PostgresConnection) throws(EventLogError) -> Bool {
        if try about(connection)?.isImporting == true { return true }
        let schema = connection.database.quotedSchema
        return try connection.ask("SELECT key FROM \(schema).meta LIMIT 1").count == 0
    }
}
#endif
