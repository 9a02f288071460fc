package import TomboloEventLog
package import TomboloLog

#if Postgres
/// A log in PostgreSQL. One relay uses it with three connections: for writing, for pages, and for
/// single rows. A fourth one sends heartbeats. Confirmed commits are as durable as
/// `PostgresDatabase.durability` requires. Opening blocks the thread, for up to 5 s if the earlier
/// owner did not release the log.
package enum PostgresEventLog {
    /// True if this build contains libpq and can open such a log.
    package static let isThere = true

    /// Creates the schema and its tables. Returns false if they exist, with the same secret.
    ///
    /// - Parameter pepper: a value to check the secret of the API keys with.
    package static func create(
        _ database: PostgresDatabase, pepper: [UInt8]
    ) throws(EventLogError) -> Bool {
        try PostgresSchema.create(PostgresConnection(database), pepper: pepper)
    }

    /// Opens a log and becomes its owner. Throws `.unusable` if another relay owns it, or if the
    /// schema belongs to another program, version or secret.
    package static func open(
        _ database: PostgresDatabase, pepper: [UInt8], retention: LogRetention,
        caution: LogCaution, clock: @escaping PostgresClock,
        chance: inout some RandomNumberGenerator
    ) throws(EventLogError) -> (log: EngineEventLog, figures: PostgresFigures) {
        let patience = PostgresPatience()
        let control = try PostgresConnection(database, patience)
        try PostgresSchema.require(control, pepper: pepper)
        let (writer, lease) = try writer(
            database, control, retention: retention, caution: caution, clock: clock,
            chance: &chance)
        let damage = DamageList()
        func reader() throws(EventLogError) -> LogReader {
            try LogReader(reading(database, lease), window: writer.window, damage: damage)
        }
        let log = try EngineEventLog(
            writer, reading: reader(), looking: reader(), damage: damage, lastRun: lease.lastBeat,
            room: PostgresRoom(), closed: {}, ends: { patience.end() })
        return (log, lease.figures)
    }

    private static func writer(
        _ database: PostgresDatabase, _ control: PostgresConnection,
        retention: LogRetention, caution: LogCaution, clock: @escaping PostgresClock,
        chance: inout some RandomNumberGenerator
    ) throws(EventLogError) -> (LogWriter, PostgresLease) {
        let lease = try PostgresLease(
            control, holder: PostgresLease.newHolder(chance.next()), clock)
        let engine = try PostgresEngine(lease, database)
        let isNew = try engine.edge(LogTable(.meta), .rising, in: .min ... .max) == nil
        let writer = try LogWriter(
            engine, isNew: isNew, retention: retention, caution: caution, chance: &chance)
        return (writer, lease)
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
        _ database: PostgresDatabase, chance: inout some RandomNumberGenerator
    ) throws(EventLogError) {
        let control = try PostgresConnection(database)
        try PostgresSchema.require(control, pepper: nil)
        try setRestored(control, PostgresLease.newHolder(chance.next()), isFree: false)
    }

    static func setRestored(
        _ control: PostgresConnection, _ holder: String, isFree: Bool = true
    ) throws(EventLogError) {
        let now = try PostgresOwner(control).now
        let lease = try PostgresLease(control, holder: holder, { 0 }, isFree: isFree)
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
        _ database: PostgresDatabase, pepper: [UInt8]?, chance: inout some RandomNumberGenerator
    ) throws(EventLogError) -> LogImport {
        let control = try PostgresConnection(database)
        try PostgresSchema.require(control, pepper: pepper, isImport: true)
        let hasLog = database.refused(
            "has a log already", "name a schema of its own, and make it: log create")
        guard try PostgresSchema.isEmpty(control) else { throw hasLog }
        let lease = try PostgresLease(
            control, holder: PostgresLease.newHolder(chance.next()), { 0 })
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
struct PostgresRoom: LogRoom {
    var isThere: Bool { true }
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
        hint: "build it with libpq: swift build -c release --traits ClipPack,Postgres; the package "
            + "is")

    /// Throws `.unusable`.
    package static func create(
        _ database: PostgresDatabase, pepper: [UInt8]
    ) throws(EventLogError) -> Bool { throw absent }

    /// Throws `.unusable`.
    package static func open(
        _ database: PostgresDatabase, pepper: [UInt8], retention: LogRetention,
        caution: LogCaution, clock: @escaping PostgresClock,
        chance: inout some RandomNumberGenerator
    ) throws(EventLogError) -> (log: EngineEventLog, figures: PostgresFigures) { throw absent }

    /// Throws `.unusable`.
    package static func reading(
        _ database: PostgresDatabase
    ) throws(EventLogError) -> any LogReading { throw absent }

    /// Throws `.unusable`.
    package static func setRestored(
        _ database: PostgresDatabase, chance: inout some RandomNumberGenerator
    ) throws(EventLogError) { throw absent }

    /// Throws `.unusable`.
    package static func importing(
        _ database: PostgresDatabase, pepper: [UInt8]?, chance: inout some RandomNumberGenerator
    ) throws(EventLogError) -> LogImport { throw absent }
}
#endif
