import Glibc

/// Names the PostgreSQL database of a log, and says what is required of it.
///
/// ```swift
/// var database = PostgresDatabase()
/// database.words = ["host": "db.example.com", "dbname": "relay", "user": "tombolo"]
/// database.passwordFile = "/etc/tombolo/database.password"
/// let opened = try PostgresEventLog.open(
///     database, pepper: pepper, retention: .forever, caution: LogCaution(), clock: clock,
///     chance: &chance)
/// ```
package struct PostgresDatabase: Hashable, Sendable {
    /// Where a commit must be stored before the server confirms it.
    package enum Durability: String, CaseIterable, Sendable {
        /// On the server's disk.
        case local
        /// Also on the disk of a synchronous standby.
        case standby
    }

    /// libpq's parameters: keyword and value ("Parameter Key Words" in its documentation). Only
    /// those of `keywords` are allowed; libpq's default holds for missing ones.
    package var words: [String: String] = [:]
    /// File that contains only the password. It is read for each connection.
    package var passwordFile: String?
    /// Schema of the log's tables.
    package var schema = "tombolo"
    /// True if a pooler is in front of the server. It must give each connection its own session.
    package var isPooled = false
    package var durability = Durability.local
    /// How long an owner of the log may show no sign of life before another relay takes it.
    package var leaseMilliseconds: Int64 = 5_000
    /// True to accept a server that may lose confirmed commits: for trials and tests.
    package var takesUnsafeServer = false

    package init() {}

    /// The accepted keywords, in the order of the documentation.
    package static let keywords = [
        "host", "hostaddr", "port", "dbname", "user", "passfile", "service", "sslmode",
        "sslrootcert", "sslcert", "sslkey", "channel_binding",
    ]

    /// The reason that a keyword is not accepted; nil if it is.
    package static func objection(to keyword: String) -> String? {
        if keywords.contains(keyword) { return nil }
        return switch keyword {
        case "password":
            "a password is shown by ps and by configuration pages: put it into a file, and name that "
                + "in password_file"
        case "options", "application_name", "target_session_attrs":
            "\(keyword) is set by the relay itself"
        default: "\(keyword) is not one of \(keywords.joined(separator: ", "))"
        }
    }

    /// The reason that a schema cannot have this name; nil if it can.
    package static func objection(toSchema name: String) -> String? {
        let isPlain =
            name.utf8.allSatisfy { 97...122 ~= $0 || 48...57 ~= $0 || $0 == 95 }
            && name.first.map { !$0.isNumber } == true
        guard isPlain, name.utf8.count <= 63, !name.hasPrefix("pg_"),
            !["public", "information_schema"].contains(name)
        else {
            return "must be 1 to 63 of a to z, 0 to 9 and _, and not begin with a digit or pg_; "
                + "\"public\" and \"information_schema\" are for others"
        }
        return nil
    }

    /// Host, database and schema, for messages.
    package var title: String {
        let host = words["host"] ?? words["hostaddr"] ?? words["service"] ?? "the local socket"
        return
            "PostgreSQL at \(host), database \(words["dbname"] ?? "(by default)"), schema \(schema)"
    }

    /// The schema's name in quotes, for statements: some allowed names are keywords of SQL.
    var quotedSchema: String { "\"\(schema)\"" }

    /// True if the server is on this machine: connected by a socket file or by loopback. For
    /// missing `words`, libpq reads the environment.
    var isNear: Bool {
        func given(_ word: String, _ variable: String) -> String? {
            if let value = words[word], !value.isEmpty { return value }
            return getenv(variable).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
        }
        guard given("service", "PGSERVICE") == nil else { return false }
        let host = given("hostaddr", "PGHOSTADDR") ?? given("host", "PGHOST") ?? ""
        return host.split(separator: ",").allSatisfy { host in
            host.hasPrefix("/") || ["localhost", "::1"].contains(host)
                || host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." }
        }
    }
}
