import Synchronization
import TomboloCore
package import TomboloEventLog
package import TomboloLog

#if Postgres
/// A log in PostgreSQL. One relay uses it with three connections: for writing, for pages, and for
/// single rows. A fourth one sends heartbeats, a fifth reads figures. Confirmed commits are as
/// durable as `PostgresDatabase.durability` requires. Opening blocks the thread, for up to the
/// database's lease if the earlier owner did not release the log.
package enum PostgresEventLog {
    /// True if this build contains libpq and can open such a log.
    package static let isThere = true

    /// Creates the schema and its tables, or what an older version did not make.
    ///
    /// - Parameter pepper: a value to check the secret of the API keys with.
    package static func create(
        _ database: PostgresDatabase, pepper: [UInt8]
    ) throws(EventLogError) -> Creation {
        try PostgresSchema.create(PostgresConnection(database), pepper: pepper)
    }

    /// Opens a log and becomes its owner. Throws `.owned` if another relay owns it, and `.unusable`
    /// if the schema belongs to another program, version or secret. To wait for the other relay,
    /// use `PostgresStandby`.
    package static func open(
        _ database: PostgresDatabase, pepper: [UInt8], retention: LogRetention,
        caution: LogCaution, clock: @escaping PostgresClock,
        chance: inout some RandomNumberGenerator
    ) throws(EventLogError) -> Opened {
        let patience = PostgresPatience()
        let control = try PostgresConnection(database, patience)
        try PostgresSchema.require(control, pepper: pepper)
        let lease = try PostgresLease(
            control, holder: PostgresLease.newHolder(chance.next()), clock)
        return try opened(
            database, lease, retention: retention, caution: caution, chance: &chance)
    }

    static func opened(
        _ database: PostgresDatabase, _ lease: PostgresLease, retention: LogRetention,
        caution: LogCaution, chance: inout some RandomNumberGenerator
    ) throws(EventLogError) -> Opened {
        let engine = try PostgresEngine(lease, database)
        let isNew = try engine.edge(LogTable(.meta), .rising, in: .min ... .max) == nil
        let writer = try LogWriter(
            engine, isNew: isNew, retention: retention, caution: caution, chance: &chance)
        let damage = DamageList()
        func reader() throws(EventLogError) -> LogReader {
            try LogReader(reading(database, lease), window: writer.window, damage: damage)
        }
        let log = try EngineEventLog(
            writer, reading: reader(), looking: reader(), damage: damage, lastRun: lease.lastBeat,
            room: lease.room, closed: {}, ends: { [patience = lease.patience] in patience.end() },
            owns: { [trust = lease.trust] in trust.holds })
        return Opened(
            log: log, figures: lease.figures, trust: lease.trust, lastReading: lease.lastReading)
    }

    private static func reading(
        _ database: PostgresDatabase, _ lease: PostgresLease
    ) throws(EventLogError) -> PostgresReader {
        PostgresReader(
            try PostgresConnection(database, name: lease.name, lease.patience), name: lease.name)
    }

    /// Marks the log as restored now, as phones may have seen a newer state. No relay may run on
    /// it.
    package static func setRestored(
        _ database: PostgresDatabase, clock: @escaping PostgresClock,
        chance: inout some RandomNumberGenerator
    ) throws(EventLogError) {
        let control = try PostgresConnection(database)
        try PostgresSchema.require(control, pepper: nil)
        try setRestored(control, PostgresLease.newHolder(chance.next()), clock, isFree: false)
    }

    static func setRestored(
        _ control: PostgresConnection, _ holder: String, _ clock: @escaping PostgresClock,
        isFree: Bool = true
    ) throws(EventLogError) {
        let now = try PostgresOwner(control).now
        let lease = try PostgresLease(control, holder: holder, clock, isFree: isFree)
        let engine = try PostgresEngine(lease, control.database, isRestoring: true)
        try LogMeta.setRestored(now, engine)
        try engine.commit()
    }

    /// Opens the tables for reading; a relay may be running or not.
    package static func reading(
        _ database: PostgresDatabase
    ) throws(EventLogError) -> any LogReading {
        let connection = try PostgresConnection(database)
        try PostgresSchema.require(connection, pepper: nil)
        return PostgresReader(connection, name: "tombolo")
    }

    /// Imports into the log, which must exist and be empty. After an interruption, an import starts
    /// again. No relay can run before it is complete.
    package static func importing(
        _ database: PostgresDatabase, pepper: [UInt8]?, clock: @escaping PostgresClock,
        chance: inout some RandomNumberGenerator
    ) throws(EventLogError) -> LogImport {
        let control = try PostgresConnection(database)
        try PostgresSchema.require(control, pepper: pepper, isImport: true)
        let hasLog = database.refused(
            "has a log already", "name a schema of its own, and make it: log create")
        guard try PostgresSchema.isEmpty(control) else { throw hasLog }
        let lease = try PostgresLease(
            control, holder: PostgresLease.newHolder(chance.next()), clock)
        let marking = try PostgresConnection(database)
        // Another import may have finished since the first check.
        guard try PostgresSchema.isEmpty(marking) else { throw hasLog }
        try PostgresSchema.setImporting(true, marking)
        let writer = try LogWriter(
            PostgresEngine(lease, database), isNew: true, chance: &chance)
        return try LogImport(
            writer,
            finished: { () throws(EventLogError) in
                try PostgresSchema.setImporting(false, marking)
            }, abandoned: {})
    }
}

/// The free space of a server. Nothing to measure: the server itself reports a full disk.
final class PostgresRoom: LogRoom {
    private let fullness = Atomic(false)

    /// True while the server is away because its disk is full.
    var isFull: Bool {
        get { fullness.load(ordering: .relaxed) }
        set { fullness.store(newValue, ordering: .relaxed) }
    }

    func isThere(now: Instant) -> Bool { !isFull }
    func makeRoom() -> Bool { false }
    func explaining(_ error: EventLogError) -> EventLogError { error }
}
#else
/// Used in a build without libpq: every function throws `.unusable`.
package enum PostgresEventLog {
    /// True if this build contains libpq and can open such a log.
    package static let isThere = false

    static let absent = EventLogError.unusable(
        cause: "this tombolo is built without PostgreSQL",
        hint: "build it with libpq: swift build -c release, without --disable-default-traits")

    /// Throws `.unusable`.
    package static func create(
        _ database: PostgresDatabase, pepper: [UInt8]
    ) throws(EventLogError) -> Creation { throw absent }

    /// Throws `.unusable`.
    package static func open(
        _ database: PostgresDatabase, pepper: [UInt8], retention: LogRetention,
        caution: LogCaution, clock: @escaping PostgresClock,
        chance: inout some RandomNumberGenerator
    ) throws(EventLogError) -> Opened { throw absent }

    /// Throws `.unusable`.
    package static func reading(
        _ database: PostgresDatabase
    ) throws(EventLogError) -> any LogReading { throw absent }

    /// Throws `.unusable`.
    package static func setRestored(
        _ database: PostgresDatabase, clock: @escaping PostgresClock,
        chance: inout some RandomNumberGenerator
    ) throws(EventLogError) { throw absent }

    /// Throws `.unusable`.
    package static func importing(
        _ database: PostgresDatabase, pepper: [UInt8]?, clock: @escaping PostgresClock,
        chance: inout some RandomNumberGenerator
    ) throws(EventLogError) -> LogImport { throw absent }
}
#endif
