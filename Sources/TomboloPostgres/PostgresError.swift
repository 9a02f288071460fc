import TomboloEventLog

/// An error of the server or of the connection. Code decides by `state` and severity, never by
/// `message`.
struct PostgresError: Error {
    /// The server's five-character SQLSTATE code; empty if it gave none.
    var state = ""
    /// One line in the server's language.
    var message: String
    /// True if the session has ended: severity FATAL or PANIC.
    var isFatal = false
    /// True if the connection is lost: nobody knows whether the last statements had an effect.
    var isLost = false
    /// Index of the failed statement among those sent together.
    var place = 0

    /// The states that code decides on, besides `PostgresRule`.
    enum State {
        static let divisionByZero = "22012"
        static let uniqueViolation = "23505"
        static let duplicateSchema = "42P06"
        static let duplicateTable = "42P07"
        static let undefinedColumn = "42703"
        static let undefinedTable = "42P01"
        static let diskFull = "53100"
        static let lockNotAvailable = "55P03"
    }

    static let roomHint =
        "free some space on the disk of the PostgreSQL server: events are taken again then"

    /// The error of a log that cannot be opened or read.
    func logError(_ database: PostgresDatabase) -> EventLogError {
        if meaning == .full { return .full(hint: Self.roomHint) }
        return .unusable(cause: cause(database), hint: hint)
    }

    /// The error of a transaction of which nothing is stored.
    func refusal(_ database: PostgresDatabase) -> EventLogError {
        if meaning == .full { return .full(hint: Self.roomHint) }
        return .unavailable(cause: cause(database), hint: hint)
    }

    func cause(_ database: PostgresDatabase) -> String {
        let code = state.isEmpty ? "" : " (SQLSTATE \(state))"
        return "\(database.title): \(message)\(code)"
    }

    private var hint: String {
        guard !isLost, !state.isEmpty else {
            return
                "see that the server runs, that this machine reaches it, and that pg_hba.conf lets "
                + "the user in: psql with the same host, port, dbname and user"
        }
        return PostgresRule.of(state).hint
    }
}

extension PostgresDatabase {
    /// Error for a server or a schema that cannot keep a log.
    func refused(_ cause: String, _ hint: String) -> EventLogError {
        .unusable(cause: "\(title) \(cause)", hint: hint)
    }
}
