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
    private let beating: Mutex<WorkerThread<Never>?>
    private let ending = Ending()

    /// How it ends, for the beat's thread.
    private final class Ending: Sendable {
        let handsOn = Atomic(true)
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
        let (ending, figures) = (ending, PostgresFigures(clock))
        self.figures = figures
        let beat = PostgresBeat(connection, epoch: epoch, holder: holder, figures)
        beating = Mutex(
            try WorkerThread<Never>(name: "log lease") { jobs in
                beat.run { jobs.take(sleeps: false) == nil }
                if ending.handsOn.load(ordering: .acquiring) { beat.handOn() }
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

    /// When it is dropped, it leaves the row as a crash would; else it hands the row on.
    func leaveAsACrashWould() { ending.handsOn.store(false, ordering: .releasing) }

    /// Beats no more, and leaves the row as a crash would.
    func end() {
        leaveAsACrashWould()
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
#endif
