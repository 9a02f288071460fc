import Glibc
import Synchronization
import TestSupport
import TomboloCore
import TomboloEventLog

@testable import TomboloLog
@testable import TomboloPostgres

/// A schema of its own in the server that `TOMBOLO_POSTGRES` names; gone after `drop`.
final class PostgresPlace: Sendable {
    private static let url = getenv("TOMBOLO_POSTGRES").map { String(cString: $0) }
    private static let count = Atomic(0)
    private static let openings = Atomic<UInt64>(0)

    /// Another one for each opening: who holds a log is known by it.
    static func newChance() -> SplitMix64 {
        SplitMix64(seed: openings.add(1, ordering: .relaxed).newValue)
    }

    /// The machine's clock: waits for an owner count on it.
    static let clock: PostgresClock = {
        var time = timespec()
        clock_gettime(CLOCK_BOOTTIME, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }

    /// Whether there is a server, and this program can ask it.
    static var isThere: Bool { url != nil && PostgresEventLog.isThere }

    let database: PostgresDatabase

    #if Postgres
    /// One for all of the place's engines, as if they were relays one after another.
    private let lease = Mutex<PostgresLease?>(nil)
    #endif

    init() {
        // Why it is none is of no interest: the run ends.
        guard let url = Self.url, var database = try? PostgresDatabase(url: url) else {
            preconditionFailure("TOMBOLO_POSTGRES is a URL")
        }
        let number = Self.count.add(1, ordering: .relaxed).newValue
        database.schema = "test_\(getpid())_\(number)"
        database.takesUnsafeServer = true
        self.database = database
    }

    #if Postgres
    func engine() throws(EventLogError) -> any LogWriting {
        _ = try PostgresEventLog.create(database, pepper: [1])
        let lease = try lease.withLock { lease throws(EventLogError) in
            if let lease { return lease }
            var chance = Self.newChance()
            let new = try PostgresLease(
                PostgresConnection(database), holder: PostgresLease.newHolder(chance.next()),
                Self.clock)
            lease = new
            return new
        }
        return try PostgresEngine(lease, database)
    }

    func reading() throws(EventLogError) -> any LogReading {
        try PostgresEventLog.reading(database)
    }

    func ask(_ statements: String...) throws {
        let connection = try PostgresConnection(database)
        for statement in statements { _ = try connection.ask(statement) }
    }

    /// A writer that is open knows nothing of the newest commit.
    func forgetCommit() throws(EventLogError) {
        let batch = "\(database.schema).batch"
        _ = try PostgresConnection(database).ask(
            "DELETE FROM \(batch) WHERE key = (SELECT max(key) FROM \(batch))")
    }

    func drop() {
        lease.withLock { $0 = nil }
        // What is left goes with the server.
        _ = try? PostgresConnection(database).ask("DROP SCHEMA \(database.schema) CASCADE")
    }
    #else
    func engine() throws(EventLogError) -> any LogWriting { throw .closed }
    func reading() throws(EventLogError) -> any LogReading { throw .closed }
    func forgetCommit() throws(EventLogError) { throw .closed }
    func drop() {}
    #endif
}

extension SampleActivities {
    /// The event of one activity that has this version.
    static func batch(ofVersion version: Int64) -> AppendBatch {
        var activities = SampleActivities()
        var events: [NewEvent] = []
        for _ in 0..<version { events = [activities.next(1, "{}", at: Sample.noon)] }
        return activities.batch(events)
    }
}
