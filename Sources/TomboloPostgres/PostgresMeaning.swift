import TomboloEventLog

/// What an error of the server means for the transaction in which it came.
enum PostgresMeaning: Hashable {
    /// Nothing is stored, and the same transaction may succeed at once.
    case again
    /// Nothing is stored, because the server's disk is full.
    case full
    /// Nothing is stored, until somebody changes something.
    case refused
    /// Nobody knows whether it is stored: reconnect, and look.
    case unknown
}

/// The rules for SQLSTATE codes (PostgreSQL's documentation, appendix A).
///
/// An error of severity ERROR ends the transaction and nothing else: nothing of it is stored. After
/// FATAL and PANIC the session is gone, perhaps after its commit, so the outcome is unknown with
/// every code. What follows depends on the place:
///
/// - connecting: the log cannot be opened, and the error has the hint; a running log tries again
/// - commit, and reads of the writer: by `meaning`
/// - finding out about a commit: starts again, however long it takes
/// - a heartbeat: the next one comes a second later
/// - a reader: connects again once if the session is gone; else the request fails with 503
struct PostgresRule {
    /// Codes of five characters, or classes of two.
    let states: [String]
    let meaning: PostgresMeaning
    let hint: String

    private init(_ states: [String], _ meaning: PostgresMeaning, _ hint: String) {
        (self.states, self.meaning, self.hint) = (states, meaning, hint)
    }

    /// The rule for a code, or else for its class.
    static func of(_ state: String) -> PostgresRule {
        table.first { $0.states.contains(state) }
            ?? table.first { $0.states.contains(String(state.prefix(2))) } ?? other
    }

    private static let other = PostgresRule(
        [], .refused, "look at the server's log, and cure what it says: the relay tries again")

    private static let away =
        "see that the server runs and is the primary: the relay connects again"

    static let table = [
        PostgresRule(
            ["40", "55P03", "57014", "53200"], .again,
            "see who else locks the log's tables or needs the server's memory: pg_stat_activity"),
        PostgresRule(["53100"], .full, PostgresError.roomHint),
        PostgresRule(
            ["53300"], .refused,
            "raise max_connections, or end other clients: a relay has five connections"),
        PostgresRule(
            ["53"], .refused, "raise the limit of the server that the message names"),
        PostgresRule(["40003", "08", "57", "25006"], .unknown, away),
        PostgresRule(
            ["28"], .refused, "see pg_hba.conf, the user, and the file that password_file names"),
        PostgresRule(
            ["3D"], .refused, "make the database: createdb, or name another in \"dbname\""),
        PostgresRule(
            ["42501"], .refused, "give the relay's role its rights: deploy/postgres/roles.sql"),
        PostgresRule(
            ["42P05", "26"], .refused,
            "connect to the server itself: a pooler gives one session to several clients "
                + "(pool_mode = session would not)"),
        PostgresRule(
            ["42", "3F"], .refused,
            "make the log's tables, or what this version adds: tombolo log create --config FILE"),
        PostgresRule(
            ["58", "XX"], .refused,
            "look at the server's log and its disk: the relay tries again each second"),
    ]
}

extension PostgresError {
    /// What this error of a transaction means. An error without a code comes from libpq.
    var meaning: PostgresMeaning {
        guard !isLost, !state.isEmpty, !isFatal else { return .unknown }
        return PostgresRule.of(state).meaning
    }
}
