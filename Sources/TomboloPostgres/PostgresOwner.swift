#if Postgres
import TomboloCore
import TomboloEventLog
import TomboloLog

/// The row that names the log's owner, with its last heartbeat, as they were read.
struct PostgresOwner {
    let epoch: Int64
    /// Empty if nobody owns the log.
    let holder: String
    let since: Instant
    /// Number of the owner's last heartbeat; 0 before the first.
    let beat: Int64
    /// When the last heartbeat came, of this owner or of the one before.
    let beaten: Instant
    /// Seconds after which this owner counts as gone; 0 before its first heartbeat.
    let lease: Double
    /// What the owner's clock said at the last heartbeat.
    let reading: PostgresReading
    /// Time by the server's clock.
    let now: Instant

    /// Holder and start, for messages.
    var title: String { "\(holder.isEmpty ? "gone" : holder), since \(since.rfc3339)" }

    /// What the clock of the last owner says now, if its machine still runs.
    var readingNow: PostgresReading? {
        guard !reading.boot.isEmpty else { return nil }
        let passed = max(0, (now - beaten).nanoseconds)
        let (sum, isTooLarge) = reading.nanoseconds.addingReportingOverflow(passed)
        return isTooLarge ? nil : (reading.boot, sum)
    }

    // MARK: Sessions

    /// The `application_name` of an owner's connections, before an end for each purpose.
    /// PostgreSQL allows 63 bytes.
    static func name(_ epoch: Int64, _ holder: String) -> String { "tombolo \(epoch) \(holder)" }
    static let (writerEnd, beatEnd, figuresEnd) = (" w", " b", " f")
    /// Only sessions of this role in this database: other programs may use such a name.
    static let ours =
        "usename = current_user AND datname = current_database() AND pid <> pg_backend_pid()"

    private var names: PostgresValues {
        let name = Self.name(epoch, holder)
        var values = PostgresValues()
        for end in ["", Self.writerEnd, Self.beatEnd, Self.figuresEnd] { values.add(name + end) }
        return values
    }

    /// True if the owner lives and waits: a commit for the standby, or a heartbeat for a lock. A
    /// relay that took the log then could not go on either.
    func waits(_ connection: PostgresConnection) throws(EventLogError) -> Bool {
        try connection.ask(
            """
            SELECT pid FROM pg_stat_activity
            WHERE application_name IN ($1::text, $2::text, $3::text, $4::text)
                AND \(Self.ours) AND (wait_event = 'SyncRep'
                    OR application_name = $3::text AND wait_event_type = 'Lock')
            """, names
        ).count > 0
    }

    /// Ends the connections of the owner in this row: they may lock the row for hours, and
    /// statements that they sent may still take effect.
    func endConnections(_ connection: PostgresConnection) throws(EventLogError) {
        _ = try connection.ask(
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE application_name IN ($1::text, $2::text, $3::text, $4::text) AND \(Self.ours)
            """, names)
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
                    UPDATE \(schema).owner SET epoch = epoch + 1, holder = $2::text,
                        since = clock_timestamp()
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
            throw .owned(
                cause: "another relay takes \(connection.database.title) at this moment",
                hint: "let only one of them take it, or start this one again: it waits")
        }
    }
}

extension PostgresOwner {
    init(_ connection: PostgresConnection) throws(EventLogError) {
        func milliseconds(_ time: String) -> String { "(extract(epoch FROM \(time)) * 1000)::int8" }
        let schema = connection.database.quotedSchema
        let answer = try connection.ask(
            """
            SELECT o.epoch, o.holder, \(milliseconds("o.since")),
                CASE WHEN b.epoch = o.epoch THEN b.beat ELSE 0 END, \(milliseconds("b.beaten")),
                CASE WHEN b.epoch = o.epoch THEN b.lease ELSE 0 END,
                b.boot, b.steady, \(milliseconds("clock_timestamp()"))
            FROM \(schema).owner o, \(schema).beat b
            """)
        guard answer.count == 1, 0..<LogTable.numberMax ~= answer.integer(0, 0) else {
            throw .unusable(
                cause:
                    "\(connection.database.title): the tables owner and beat have "
                    + "\(answer.count) rows, or one that no relay wrote",
                hint: "tombolo log create --config FILE adds a missing row of beat; else restore a "
                    + "backup, or import an export into a new schema")
        }
        func time(_ column: Int32) -> Instant {
            Instant(seconds: 0) + Span(nanoseconds: answer.integer(0, column) &* 1_000_000)
        }
        (epoch, holder, since) = (answer.integer(0, 0), answer.text(0, 1), time(2))
        (beat, beaten, lease) = (
            answer.integer(0, 3), time(4), Double(answer.integer(0, 5)) / 1_000
        )
        reading = (answer.text(0, 6), answer.integer(0, 7))
        now = time(8)
    }
}
#endif
