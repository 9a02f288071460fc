#if Postgres
import Glibc
import TomboloEventLog

/// Sends the heartbeats of the log's owner, on its own thread and connection. Nothing that may wait
/// for a table, for a lock or for a standby is sent there.
final class PostgresBeat: @unchecked Sendable {
    // Sendable: the lease gives it to the heartbeat's thread and keeps no reference.

    private static let every = 1.0
    /// The pause after one that failed. A relay that wants the log leaves an owner alone whose
    /// heartbeat waits for a lock, so it has to see that.
    private static let soon = 0.1
    private static let stepMilliseconds: Int32 = 20
    private static let patience = PostgresPatience(milliseconds: 1_000, looks: false)

    private var connection: PostgresConnection?
    private let database: PostgresDatabase
    private let epoch: Int64
    private let holder: String
    private let trust: PostgresTrust
    private let reading: @Sendable () -> PostgresReading

    init(
        _ database: PostgresDatabase, epoch: Int64, holder: String, _ trust: PostgresTrust,
        _ reading: @escaping @Sendable () -> PostgresReading
    ) {
        (self.database, self.epoch, self.holder) = (database, epoch, holder)
        (self.trust, self.reading) = (trust, reading)
    }

    func run(until isOver: () -> Bool) {
        while !isOver() {
            let start = trust.clock()
            let next = beat() ? start + Self.every : trust.clock() + Self.soon
            while trust.clock() < next, !isOver() { poll(nil, 0, Self.stepMilliseconds) }
        }
    }

    /// Returns false if it failed: then the next one comes soon, and appends report the error.
    private func beat() -> Bool {
        let start = trust.clock()
        do throws(EventLogError) {
            let connection = try connected()
            if try connection.ask([
                // It only shows that the owner is alive. It may be lost if the server crashes.
                PostgresQuestion("SELECT set_config('synchronous_commit', 'off', false)"), question,
            ])[1].count == 1 {
                trust.renew(from: start)
                return true
            }
            let owner = try PostgresOwner(connection)
            if owner.epoch > epoch || owner.holder != holder && !owner.holder.isEmpty {
                trust.lose(PostgresLease.taken(database, owner))
            }
        } catch {
            if connection?.isLost == true { connection = nil }
        }
        return false
    }

    private func connected() throws(EventLogError) -> PostgresConnection {
        if let connection, !connection.isLost { return connection }
        let name = PostgresOwner.name(epoch, holder) + PostgresOwner.beatEnd
        let new = try PostgresConnection(database, name: name, Self.patience)
        var values = PostgresValues()
        values.add(name)
        // What is left of the session before may lock the heartbeat's row.
        _ = try new.ask(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name = $1::text AND \(PostgresOwner.ours)
            """, values)
        connection = new
        return new
    }

    private var question: PostgresQuestion {
        let (boot, nanoseconds) = reading()
        var values = PostgresValues(epoch)
        values.add(holder)
        values.add(Int64(trust.lease * 1_000))
        values.add(boot)
        values.add(nanoseconds)
        return PostgresQuestion(
            """
            UPDATE \(database.quotedSchema).beat b SET epoch = $1::int8, holder = $2::text,
                beat = CASE WHEN b.epoch = $1::int8 THEN b.beat + 1 ELSE 1 END,
                lease = $3::int8, boot = $4::text, steady = $5::int8, beaten = clock_timestamp()
            FROM \(database.quotedSchema).owner o
            WHERE o.epoch = $1::int8 AND o.holder = $2::text RETURNING 1
            """, values)
    }

    /// Releases the owner's row, so that the next owner need not wait.
    func handOn() {
        var values = PostgresValues(epoch)
        values.add(holder)
        // If this fails, the next owner waits until the heartbeats have been missing long enough.
        _ = try? connection?.ask(
            """
            UPDATE \(database.quotedSchema).owner SET holder = ''
            WHERE epoch = $1::int8 AND holder = $2::text
            """, values)
    }
}
#endif
