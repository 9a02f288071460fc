#if Postgres
import Glibc
import TomboloEventLog

/// Sends the heartbeats of the log's owner, on its own thread.
final class PostgresBeat: @unchecked Sendable {
    // Sendable: the lease gives it to the heartbeat's thread and keeps no reference.

    private static let every = 1.0
    private static let stepMilliseconds: Int32 = 20
    /// The figures for operators are read once in this number of heartbeats.
    private static let beatsBetweenFigures = 10

    private var connection: PostgresConnection?
    private let database: PostgresDatabase
    private let epoch: Int64
    private let holder: String
    private let figures: PostgresFigures
    private let patience: PostgresPatience
    private var beats = 0

    init(
        _ connection: PostgresConnection, epoch: Int64, holder: String, _ figures: PostgresFigures
    ) {
        (self.connection, database) = (connection, connection.database)
        (self.epoch, self.holder, self.figures) = (epoch, holder, figures)
        patience = connection.patience
    }

    func run(until isOver: () -> Bool) {
        while !isOver() {
            beat()
            for _ in 0..<Int(Self.every * 1_000) / Int(Self.stepMilliseconds) where !isOver() {
                poll(nil, 0, Self.stepMilliseconds)
            }
        }
    }

    private func beat() {
        if connection?.isLost ?? true {
            // On failure the next heartbeat tries again; appends report the error.
            connection = try? PostgresConnection(
                database, name: PostgresOwner.name(epoch, holder), patience)
        }
        guard let connection else { return }
        if beats % Self.beatsBetweenFigures == 0 { try? look(connection) }  // retried
        beats += 1
        _ = try? connection.ask([  // retried
            // It only shows that the owner is alive. It may be lost if the server crashes.
            PostgresQuestion("SELECT set_config('synchronous_commit', 'off', false)"),
            update("beat = beat + 1, beaten = clock_timestamp()"),
        ])
    }

    private func update(_ change: String) -> PostgresQuestion {
        var values = PostgresValues(epoch)
        values.add(holder)
        return PostgresQuestion(
            """
            UPDATE \(database.quotedSchema).owner SET \(change)
            WHERE epoch = $1::int8 AND holder = $2::text
            """, values)
    }

    /// Releases the owner's row, so that the next owner need not wait.
    func handOn() {
        // If this fails, the next owner waits until the heartbeats have been missing long enough.
        _ = try? connection?.ask([update("holder = ''")])
    }

    private func look(_ connection: PostgresConnection) throws(EventLogError) {
        var values = PostgresValues()
        values.add(database.schema)
        let answer = try connection.ask(
            """
            SELECT sum(pg_total_relation_size(relid))::int8, sum(n_dead_tup)::int8,
                (SELECT coalesce(max(age(backend_xmin)), 0)::int8 FROM pg_stat_activity
                    WHERE pid <> pg_backend_pid()),
                current_setting('synchronous_standby_names'), current_setting('fsync')
            FROM pg_stat_user_tables WHERE schemaname = $1::text
            """, values)
        let isStandby = database.durability == .standby && !answer.text(0, 3).isEmpty
        let local = answer.text(0, 4) == "on" ? "local" : "none"
        figures.set(
            durability: isStandby ? "standby" : local, bytes: answer.integer(0, 0),
            deadRows: answer.integer(0, 1), oldestSnapshot: answer.integer(0, 2))
    }
}
#endif
