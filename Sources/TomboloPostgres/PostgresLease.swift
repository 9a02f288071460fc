#if Postgres
import Glibc
import Synchronization
import TomboloCore
import TomboloEventLog
import TomboloLog

/// The owner's row of a log, held: one relay writes. It beats each second, on a thread and a
/// connection of its own, so that others see that its owner lives.
///
/// What holds others out is not the beat but the row: each transaction locks it, and does nothing
/// where epoch or holder are another's.
final class PostgresLease: Sendable {
    /// An owner that has not beaten for so long is gone. In seconds.
    static let patience = 5.0
    private static let lookEvery = 0.5

    /// Of this process: machine, process, and some chance.
    let holder: String
    let epoch: Int64
    /// When the owner before beat last, where it did not hand the row on.
    let lastBeat: Instant?
    let figures: PostgresFigures
    let patience: PostgresPatience
    private let title: String
    private let handsOn: Flag
    private let beating: Mutex<WorkerThread<Never>?>

    /// What two threads share.
    final class Flag: Sendable {
        let isSet = Atomic(true)
    }

    /// Takes the row, from an owner that handed it on or that is gone; waits for the latter. Throws
    /// where one lives.
    ///
    /// - Parameter isFree: the owner that the row names has ended.
    init(
        _ connection: PostgresConnection, holder: String, _ clock: @escaping PostgresClock,
        isFree: Bool = false
    ) throws(EventLogError) {
        self.holder = holder
        patience = connection.patience
        let owner = try PostgresOwner(connection)
        if !owner.holder.isEmpty {
            if !isFree { try Self.watch(owner, connection) }
            try owner.endConnections(connection)
        }
        lastBeat = owner.holder.isEmpty ? nil : owner.beaten
        epoch = owner.epoch + 1
        try owner.giveWay(to: holder, connection)
        title = connection.database.title
        let (flag, figures) = (Flag(), PostgresFigures(clock))
        (handsOn, self.figures) = (flag, figures)
        let beat = PostgresBeat(connection, epoch: epoch, holder: holder, figures)
        beating = Mutex(
            try WorkerThread<Never>(name: "log lease") { jobs in
                beat.run { jobs.take(sleeps: false) == nil }
                if flag.isSet.load(ordering: .acquiring) { beat.handOn() }
            })
    }

    /// The `application_name` of the owner's connections, by which the next owner ends them.
    var name: String { PostgresOwner.name(epoch, holder) }
    /// That of the connection that writes.
    var writerName: String { name + PostgresOwner.writerEnd }
    /// Who sets in the log that it counts as restored.
    var restoring: String { holder + "r" }

    /// The answer to a transaction that found another's row.
    var taken: EventLogError {
        .unusable(
            cause: "\(title): another relay has taken this log, or the server went back to an "
                + "older state of it",
            hint: "run one relay on a log; start this one again: it waits for none")
    }

    /// Beats no more; hands the row on, or leaves it as a crash would.
    func end(handingOn: Bool) {
        handsOn.isSet.store(handingOn, ordering: .releasing)
        // Dropped outside the lock: it waits for its thread.
        let thread = beating.withLock { $0.take() }
        withExtendedLifetime(thread) {}
    }

    static func newHolder(_ chance: UInt64) -> String {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        let bytes = name.prefix(16).prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        let host = String(decoding: bytes, as: UTF8.self)
        return "\(host)-\(getpid())-\(String(chance % 1_000_000_007, radix: 36))"
    }

    private static func watch(
        _ owner: PostgresOwner, _ connection: PostgresConnection
    ) throws(EventLogError) {
        for _ in 0..<Int(patience / lookEvery) {
            poll(nil, 0, Int32(lookEvery * 1_000))
            let now = try PostgresOwner(connection)
            // It ended by itself meanwhile.
            if now.holder.isEmpty { return }
            guard (now.epoch, now.beat) == (owner.epoch, owner.beat) else {
                throw .unusable(
                    cause: "another relay (\(now.holder), since \(now.since.rfc3339)) runs on "
                        + connection.database.title,
                    hint: "stop that one, or give this one a schema of its own")
            }
        }
    }
}

/// The owner's row as it was read.
struct PostgresOwner {
    let epoch: Int64
    /// Empty where it has no owner.
    let holder: String
    let beat: Int64
    let beaten: Instant
    let since: Instant
    /// By the server's clock.
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

    /// The `application_name` of an owner's connections: at most 63 bytes.
    static func name(_ epoch: Int64, _ holder: String) -> String { "tombolo \(epoch) \(holder)" }
    static let writerEnd = " w"

    /// They may hold the row for hours, and what they have sent may still be done.
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
                // A transaction of the owner before holds the row until it is through.
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

/// The owner's beat, for its thread.
final class PostgresBeat: @unchecked Sendable {
    // Sendable: the lease hands it to its thread and forgets it.

    private static let every = 1.0
    private static let stepMilliseconds: Int32 = 20
    /// What operators see is asked for at each of so many beats.
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

    /// Beats until `isOver`.
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
            // Tried again at the next beat; those who append say what is wrong.
            connection = try? PostgresConnection(
                database, name: PostgresOwner.name(epoch, holder), patience)
        }
        guard let connection else { return }
        if beats % Self.beatsBetweenFigures == 0 { try? look(connection) }  // As above.
        beats += 1
        _ = try? connection.ask([  // As above.
            // The beat says that the owner lives; it need not outlive the server.
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

    /// The row has no owner from now on.
    func handOn() {
        // Where the server is away the next owner waits until it is sure.
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
