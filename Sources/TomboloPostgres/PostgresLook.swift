#if Postgres
import Glibc
import TomboloEventLog

/// Reads the figures for operators, on its own thread and connection: the sizes of tables wait for
/// a lock that somebody holds.
final class PostgresLook: @unchecked Sendable {
    // Sendable: the lease gives it to the thread of the figures and keeps no reference.

    private static let every = 10.0
    private static let stepMilliseconds: Int32 = 20

    private var connection: PostgresConnection?
    private let database: PostgresDatabase
    private let name: String
    private let figures: PostgresFigures
    private let patience: PostgresPatience

    init(
        _ database: PostgresDatabase, name: String, _ figures: PostgresFigures,
        _ patience: PostgresPatience
    ) {
        (self.database, self.figures, self.patience) = (database, figures, patience)
        self.name = name + PostgresOwner.figuresEnd
    }

    func run(until isOver: () -> Bool) {
        while !isOver() {
            try? look()  // the next look tries again
            for _ in 0..<Int(Self.every * 1_000) / Int(Self.stepMilliseconds) where !isOver() {
                poll(nil, 0, Self.stepMilliseconds)
            }
        }
    }

    private func look() throws(EventLogError) {
        if connection?.isLost ?? true {
            connection = nil
            connection = try PostgresConnection(database, name: name, patience)
        }
        guard let connection else { return }
        var values = PostgresValues()
        values.add(database.schema)
        let answer = try connection.ask([
            PostgresQuestion("SELECT set_config('lock_timeout', '1s', false)"),
            PostgresQuestion(
                """
                SELECT sum(pg_total_relation_size(relid))::int8, sum(n_dead_tup)::int8,
                    (SELECT coalesce(max(age(backend_xmin)), 0)::int8 FROM pg_stat_activity
                        WHERE pid <> pg_backend_pid()),
                    current_setting('synchronous_standby_names'), current_setting('fsync'),
                    (SELECT count(*) FROM pg_stat_activity
                        WHERE application_name = \(PostgresWatch.sessionName(database))
                            AND \(PostgresOwner.ours)
                            AND state_change > clock_timestamp() - interval '10 s')
                FROM pg_stat_user_tables WHERE schemaname = $1::text
                """, values),
        ])[1]
        let isStandby = database.durability == .standby && !answer.text(0, 3).isEmpty
        let local = answer.text(0, 4) == "on" ? "local" : "none"
        var view = PostgresFigures.View()
        view.durability = isStandby ? "standby" : local
        (view.bytes, view.deadRows) = (answer.integer(0, 0), answer.integer(0, 1))
        (view.oldestSnapshot, view.standbys) = (answer.integer(0, 2), answer.integer(0, 5))
        figures.set(view)
    }
}
#endif
