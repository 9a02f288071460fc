#if Postgres
import Glibc
import Synchronization
import TomboloCore
import TomboloEventLog
import TomboloLog

/// The right of one relay to write a log. While it exists, a thread of its own sends a heartbeat
/// each second, on its own connection, so that others see that the owner is alive. What keeps
/// others out is not the heartbeat but the owner's row: each transaction locks the row, and has no
/// effect if the row has another epoch or holder.
final class PostgresLease: Sendable {
    /// Name of this owner: its machine, its process id and a random part.
    let holder: String
    let epoch: Int64
    /// Last heartbeat of the previous owner, if that did not release the row; nil otherwise.
    let lastBeat: Instant?
    /// What the clock of the previous owner says now; nil if unknown.
    let lastReading: PostgresReading?
    let figures: PostgresFigures
    let patience: PostgresPatience
    let trust: PostgresTrust
    let room = PostgresRoom()
    private let threads: Mutex<[WorkerThread<Never>]>
    private let ending = Ending()

    /// Tells the heartbeat's thread whether to release the row at the end.
    private final class Ending: Sendable {
        let handsOn = Atomic(true)
    }

    /// Takes the log from `owner`, who released it or is gone. Throws `.owned` if another relay is
    /// faster.
    init(
        _ connection: PostgresConnection, from owner: PostgresOwner, holder: String,
        _ patience: PostgresPatience, _ clock: @escaping PostgresClock,
        _ reading: @escaping @Sendable () -> PostgresReading
    ) throws(EventLogError) {
        let database = connection.database
        (self.holder, self.patience) = (holder, patience)
        trust = PostgresTrust(clock, lease: Double(database.leaseMilliseconds) / 1_000)
        lastBeat = owner.holder.isEmpty ? nil : owner.beaten
        lastReading = owner.readingNow
        epoch = owner.epoch + 1
        try owner.giveWay(to: holder, connection)
        trust.renew(from: clock())
        let (ending, figures) = (ending, PostgresFigures(clock))
        self.figures = figures
        let beat = PostgresBeat(database, epoch: epoch, holder: holder, trust, reading)
        let look = PostgresLook(
            database, name: PostgresOwner.name(epoch, holder), figures, patience)
        threads = Mutex([
            try WorkerThread<Never>(name: "log lease") { jobs in
                beat.run { jobs.take(sleeps: false) == nil }
                if ending.handsOn.load(ordering: .acquiring) { beat.handOn() }
            },
            try WorkerThread<Never>(name: "log figures") { jobs in
                look.run { jobs.take(sleeps: false) == nil }
            },
        ])
    }

    /// Takes the log if the earlier owner released it or is gone; watches its heartbeats for some
    /// seconds to find out. Throws `.owned` if the owner is alive.
    ///
    /// - Parameter isFree: true if it is known that the earlier owner has ended.
    convenience init(
        _ connection: PostgresConnection, holder: String, _ clock: @escaping PostgresClock,
        _ reading: @escaping @Sendable () -> PostgresReading = { ("", 0) }, isFree: Bool = false
    ) throws(EventLogError) {
        var owner = try PostgresOwner(connection)
        let first = owner
        var watch = PostgresWatch(lease: Double(connection.database.leaseMilliseconds) / 1_000)
        while !isFree, !watch.mayTake(owner, at: clock()) {
            poll(nil, 0, PostgresWatch.lookEvery)
            owner = try PostgresOwner(connection)
            let isNew = (owner.epoch, owner.beat) != (first.epoch, first.beat)
            if isNew, !owner.holder.isEmpty {
                throw .owned(
                    cause: "another relay (\(owner.title)) runs on \(connection.database.title)",
                    hint: "stop that one, or give this one a schema of its own")
            }
        }
        if !owner.holder.isEmpty { try owner.endConnections(connection) }
        try self.init(
            connection, from: owner, holder: holder, connection.patience, clock, reading)
    }

    /// The `application_name` of this owner's connections. The next owner ends them by this name.
    var name: String { PostgresOwner.name(epoch, holder) }
    var writerName: String { name + PostgresOwner.writerEnd }
    /// The name to put into the owner's row while the log is marked as restored.
    var restoring: String { holder + "r" }

    /// The error of a relay whose log another one has taken.
    static func taken(_ database: PostgresDatabase, _ owner: PostgresOwner) -> EventLogError {
        .owned(
            cause: "another relay (\(owner.title)) has taken \(database.title)",
            hint: "start this one again: it waits for that one")
    }

    /// At its end, the lease will not release the row, as if the process had crashed.
    func leaveAsACrashWould() { ending.handsOn.store(false, ordering: .releasing) }

    /// Ends the heartbeat, and does not release the row.
    func end() {
        leaveAsACrashWould()
        // Release the threads outside the lock, because their `deinit` waits until they end.
        let threads = threads.withLock { threads in
            defer { threads = [] }
            return threads
        }
        withExtendedLifetime(threads) {}
    }

    static func newHolder(_ chance: UInt64) -> String {
        var name = [CChar](repeating: 0, count: 256)
        gethostname(&name, name.count - 1)
        let bytes = name.prefix(16).prefix { $0 != 0 }.map(UInt8.init(bitPattern:))
        let host = String(decoding: bytes, as: UTF8.self)
        return "\(host)-\(getpid())-\(String(chance % 1_000_000_007, radix: 36))"
    }
}
#endif
