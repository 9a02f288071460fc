#if Postgres
import TomboloCore
import TomboloEventLog
import TomboloLog

/// The row that names the log's owner, as it was read.
struct PostgresOwner {
    let epoch: Int64
    /// Empty if nobody owns the log.
    let holder: String
    let beat: Int64
    let beaten: Instant
    let since: Instant
    /// Time by the server's clock.
    let now: Instant

    init(_ connection: PostgresConnection) throws(EventLogError) {
        let answer = try connection.ask(
            """
            SELECT epoch, holder, beat, (extract(epoch FROM beaten) * 1000)::int8,
                (extract(epoch FROM since) * 1000)::int8,
                (extract(epoch FROM clock_timestamp()) * 1000)::int8
            FROM \(connection.database.quotedSchema).owner
            """)
        guard answer.count == 1, 0..<LogTable.numberMax ~= answer.integer(0, 0) else {
            throw .unusable(
                cause:
                    "\(connection.database.title): the table owner has \(answer.count) rows, "
                    + "or one that no relay wrote",
                hint: "a log has one: restore a backup, or import an export into a new schema")
        }
        func time(_ column: Int32) -> Instant {
            Instant(seconds: 0) + Span(nanoseconds: answer.integer(0, column) &* 1_000_000)
        }
        (epoch, holder, beat) = (answer.integer(0, 0), answer.text(0, 1), answer.integer(0, 2))
        (beaten, since, now) = (time(3), time(4), time(5))
    }

    /// The `application_name` of an owner's connections. PostgreSQL allows 63 bytes.
    static func name(_ epoch: Int64, _ holder: String) -> String { "tombolo \(epoch) \(holder)" }
    static let writerEnd = " w"

    /// Ends the connections of the owner in this row: they may lock the row for hours, and
    /// statements that they sent may still take effect.
    func endConnections(_ connection: PostgresConnection) throws(EventLogError) {
        var name = PostgresValues()
        name.add(Self.name(epoch, holder))
        name.add(Self.name(epoch, holder) + Self.writerEnd)
        _ = try connection.ask(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name IN ($1::text, $2::text) AND pid <> pg_backend_pid()
            """, name)
    }

    func giveWay(to holder: String, _ connection: PostgresConnection) throws(EventLogError) {
        let schema = connection.database.quotedSchema
        var values = PostgresValues(epoch)
        values.add(holder)
        let taken: Int
        do throws(PostgresError) {
            taken = try connection.answers([
                PostgresQuestion("BEGIN"),
                // A transaction of the earlier owner keeps the row locked until it ends.
                PostgresQuestion("SELECT set_config('lock_timeout', '3s', true)"),
                PostgresQuestion(
                    """
                    UPDATE \(schema).owner SET epoch = epoch + 1, holder = $2::text, beat = 0,
                        beaten = clock_timestamp(), since = clock_timestamp()
                    WHERE epoch = $1::int8 RETURNING epoch
                    """, values),
                PostgresQuestion("COMMIT"),
            ])[2].count
        } catch {
            try connection.rollBack()
            guard error.state == PostgresError.State.lockNotAvailable else {
                throw error.logError(connection.database)
            }
            taken = 0
        }
        guard taken == 1 else {
            throw .unusable(
                cause: "another relay takes \(connection.database.title) at this moment",
                hint: "run one relay on a log")
        }
    }
}
#endif
