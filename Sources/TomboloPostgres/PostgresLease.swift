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
    /// Seconds without a heartbeat after which an owner counts as gone.
    static let patience = 5.0
    private static let lookEvery = 0.5

    /// Name of this owner: its machine, its process id and a random part.
    let holder: String
    let epoch: Int64
    /// Last heartbeat of the previous owner, if that did not release the row; nil otherwise.
    let lastBeat: Instant?
    let figures: PostgresFigures
    let patience: PostgresPatience
    private let title: String
    private let beating: Mutex<WorkerThread<Never>?>
    private let ending = Ending()

    /// Tells the heartbeat's thread whether to release the row at the end.
    private final class Ending: Sendable {
        let handsOn = Atomic(true)
    }

    /// Becomes the owner, if the earlier one released the row or is gone; watches the row for some
    /// seconds to find out. Throws if the owner is alive.
    ///
    /// - Parameter isFree: true if it is known that the earlier owner has ended.
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
        let (ending, figures) = (ending, PostgresFigures(clock))
        self.figures = figures
        let beat = PostgresBeat(connection, epoch: epoch, holder: holder, figures)
        beating = Mutex(
            try WorkerThread<Never>(name: "log lease") { jobs in
                beat.run { jobs.take(sleeps: false) == nil }
                if ending.handsOn.load(ordering: .acquiring) { beat.handOn() }
            })
    }

    /// The `application_name` of this owner's connections. The next owner ends them by this name.
    var name: String { PostgresOwner.name(epoch, holder) }
    var writerName: String { name + PostgresOwner.writerEnd }
    /// The name to put into the owner's row while the log is marked as restored.
    var restoring: String { holder + "r" }

    /// Error of a transaction that finds another owner in the row.
    var taken: EventLogError {
        .unusable(
            cause: "\(title): another relay has taken this log, or the server went back to an "
                + "older state of it",
            hint: "run one relay on a log; start this one again: it waits for none")
    }

    /// At its end, the lease will not release the row, as if the process had crashed.
    func leaveAsACrashWould() { ending.handsOn.store(false, ordering: .releasing) }

    /// Ends the heartbeat, and does not release the row.
    func end() {
        leaveAsACrashWould()
        // Release the thread outside the lock, because its `deinit` waits until it ends.
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
            // The owner released the row meanwhile.
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
#endif
