package import TomboloEventLog
package import TomboloLog

#if Postgres
/// A log in PostgreSQL.
///
/// One relay writes it, from three connections (writer, pages, single rows); a fourth beats. What
/// was acknowledged is where `PostgresDatabase.durability` says. Blocks: opening waits up to five
/// seconds for an owner that is gone.
package enum PostgresEventLog {
    /// Whether this program can open one.
    package static let isThere = true

    /// Makes schema and tables; answers false where they are there already, made with the same
    /// secret.
    ///
    /// - Parameter pepper: what the secret of the API keys is checked by.
    package static func create(
        _ database: PostgresDatabase, pepper: [UInt8]
    ) throws(EventLogError) -> Bool {
        try PostgresSchema.create(PostgresConnection(database), pepper: pepper)
    }

    /// Opens a log and owns it. Throws `.unusable` where another relay does, and where the schema
    /// is not what this program made with that secret.
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

    /// The log counts as put back now: an older state of it than phones may have seen. No relay
    /// runs on it.
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

    /// The tables for those who only read, beside a relay or without one.
    package static func reading(
        _ database: PostgresDatabase
    ) throws(EventLogError) -> any LogReading {
        let connection = try PostgresConnection(database)
        try PostgresSchema.require(connection, pepper: nil)
        return PostgresReader(connection, name: "tombolo")
    }

    /// Fills the log, which is made and empty. One that is cut short is begun anew, and no relay
    /// runs on it before.
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
        // Another import may have come to its end meanwhile.
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

/// The room of a server is its own: it says when it has none.
struct PostgresRoom: LogRoom {
    var isThere: Bool { true }
    func makeRoom() -> Bool { false }
    func explaining(_ error: EventLogError) -> EventLogError { error }
}
#else
/// A program without libpq: each of these says so.
package enum PostgresEventLog {
    /// Whether this program can open one.
    package static let isThere = false

    static let absent = EventLogError.unusable(
        cause: "this tombolo is built without PostgreSQL",
        hint: "build it with libpq: swift build -c release --traits ClipPack,Postgres; the package "
            + "is")

    /// Throws.
    package static func create(
        _ database: PostgresDatabase, pepper: [UInt8]
    ) throws(EventLogError) -> Bool { throw absent }

    /// Throws.
    package static func open(
        _ database: PostgresDatabase, pepper: [UInt8], retention: LogRetention,
        caution: LogCaution, clock: @escaping PostgresClock,
        chance: inout some RandomNumberGenerator
    ) throws(EventLogError) -> (log: EngineEventLog, figures: PostgresFigures) { throw absent }

    /// Throws.
    package static func reading(
        _ database: PostgresDatabase
    ) throws(EventLogError) -> any LogReading { throw absent }

    /// Throws.
    package static func setRestored(
        _ database: PostgresDatabase, chance: inout some RandomNumberGenerator
    ) throws(EventLogError) { throw absent }

    /// Throws.
    package static func importing(
        _ database: PostgresDatabase, pepper: [UInt8]?, chance: inout some RandomNumberGenerator
    ) throws(EventLogError) -> LogImport { throw absent }
}
#endif
