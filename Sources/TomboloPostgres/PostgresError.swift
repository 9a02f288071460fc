import TomboloEventLog

/// An error of the server or of the connection. Code decides by `state`, never by `message`.
struct PostgresError: Error {
    /// The server's five-character SQLSTATE code; empty if it gave none.
    var state = ""
    /// One line in the server's language.
    var message: String
    /// True if the connection is lost: nobody knows whether the last statements had an effect.
    var isLost = false
    /// Index of the failed statement among those sent together.
    var place = 0

    /// The states that code decides on.
    enum State {
        static let divisionByZero = "22012"
        static let uniqueViolation = "23505"
        static let duplicateSchema = "42P06"
        static let duplicateTable = "42P07"
        static let undefinedColumn = "42703"
        static let undefinedTable = "42P01"
        static let insufficientPrivilege = "42501"
        static let diskFull = "53100"
        static let lockNotAvailable = "55P03"
    }

    func logError(_ database: PostgresDatabase) -> EventLogError {
        if state == State.diskFull { return .full(hint: Self.roomHint) }
        let code = state.isEmpty ? "" : " (SQLSTATE \(state))"
        return .unusable(cause: "\(database.title): \(message)\(code)", hint: hint(database))
    }

    static let roomHint =
        "free some space on the disk of the PostgreSQL server: events are taken again then"

    private func hint(_ database: PostgresDatabase) -> String {
        if isLost || state.isEmpty {
            return
                "see that the server runs, that this machine reaches it, and that pg_hba.conf lets "
                + "the user in: psql with the same host, port, dbname and user"
        }
        // The class of the state: its first two characters.
        return switch state.prefix(2) {
        case "28": "see pg_hba.conf, the user, and the file that password_file names"
        case "3D": "make the database: createdb, or name another in \"dbname\""
        case "42" where state == State.insufficientPrivilege:
            "give the relay's role its rights: deploy/postgres/roles.sql"
        case "42": "make the log's tables: tombolo log create --config FILE"
        case "53": "raise max_connections, or end other clients: a relay has four connections"
        case "57": "the server shuts down or starts: start the relay again when it is there"
        default: "look at the server's log, then start again: what was acknowledged is recovered"
        }
    }
}

extension PostgresDatabase {
    /// Error for a server or a schema that cannot keep a log.
    func refused(_ cause: String, _ hint: String) -> EventLogError {
        .unusable(cause: "\(title) \(cause)", hint: hint)
    }
}
