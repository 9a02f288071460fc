#if Postgres
import Glibc
import Synchronization
import TomboloCore
import TomboloEventLog
import TomboloLog

/// Ownership of a log: only one relay writes. It sends a heartbeat each second, on its own thread
/// and connection, so that others see that the owner is alive.
///
/// The owner's row, not the heartbeat, keeps others out: each transaction locks the row, and does
/// nothing if epoch or holder differ.
final class PostgresLease: Sendable {
    /// An owner without a heartbeat for this long counts as gone. In seconds.
    static let patience = 5.0
    private static let lookEvery = 0.5

    /// Name of this owner: machine, process id and a random part.
    let holder: String
    let epoch: Int64
    /// Last heartbeat of the previous owner if it did not release the row; nil otherwise.
    let lastBeat: Instant?
    let figures: PostgresFigures
    let patience: PostgresPatience
    private let title: String
    private let beating: Mutex<WorkerThread<Never>?>
    private let ending = Ending()

    /// How the lease ends, for the heartbeat's thread.
    private final class Ending: Sendable {
        let handsOn = Atomic(true)
    }

    /// Takes the row from an owner that released it or is gone; waits to find out. Throws if the
    /// owner is alive.
    ///
    /// - Parameter isFree: true if the row's owner is known to have ended.
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

    /// The `application_name` of the owner's connections; the next owner ends them by this name.
    var name: String { PostgresOwner.name(epoch, holder) }
    /// The `application_name` of the writing connection.
    var writerName: String { name + PostgresOwner.writerEnd }
    /// Holder name for marking the log as restored.
    var restoring: String { holder + "r" }

    /// Error for a transaction that found another owner's row.
    var taken: EventLogError {
        .unusable(
            cause: "\(title): another relay has taken this log, or the server went back to an "
                + "older state of it",
            hint: "run one relay on a log; start this one again: it waits for none")
    }

    /// Leaves the row as after a crash when the lease is released; otherwise it releases the row.
    func leaveAsACrashWould() { ending.handsOn.store(false, ordering: .releasing) }

    /// Ends the heartbeat, and leaves the row as after a crash.
    func end() {
        leaveAsACrashWould()
        // Release it outside the lock: it waits for its thread.
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
            // The owner ended by itself meanwhile.
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
