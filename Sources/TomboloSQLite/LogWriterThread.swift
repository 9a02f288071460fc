import TomboloCore
import TomboloEventLog
import Synchronization

/// The writer's thread: takes all batches that wait and commits them together, so that under load one fsync serves many
/// and when idle nobody waits for company.
final class LogWriterThread: Sendable {
    /// A transaction takes no further batch once it has this many events: its rows fit the page cache, and the first of them
    /// does not wait long.
    static let groupEventsMax = 1_000

    private typealias Receipt = Result<AppendReceipt, EventLogError>

    private enum Job: Sendable {
        case append(AppendBatch, CheckedContinuation<Receipt, Never>)
        case recover(
            since: Instant, CheckedContinuation<Result<RecoveredLog, EventLogError>, Never>)
    }

    private let jobs = Mailbox<Job>()
    private let ended = Completion()
    private let isGraceful = Atomic(false)
    private let thread: WorkerThread

    /// `directory` is let go of after the database is closed.
    init(_ writer: LogWriter, holding directory: DataDirectory) {
        let handover = Handover(writer)
        thread = WorkerThread(name: "log writer") { [jobs, ended, isGraceful] in
            Self.run(handover, jobs) { isGraceful.load(ordering: .acquiring) }
            directory.letGo()
            ended.complete()
        }
    }

    deinit {
        jobs.close()
        thread.join()
    }

    // MARK: On the caller's side

    func append(_ batch: AppendBatch) async -> Result<AppendReceipt, EventLogError> {
        await withCheckedContinuation { continuation in
            if !jobs.put(.append(batch, continuation)) {
                continuation.resume(returning: .failure(.closed))
            }
        }
    }

    func recover(idempotencySince: Instant) async -> Result<RecoveredLog, EventLogError> {
        await withCheckedContinuation { continuation in
            if !jobs.put(.recover(since: idempotencySince, continuation)) {
                continuation.resume(returning: .failure(.closed))
            }
        }
    }

    /// Finishes what waits and closes the database; back when the directory is free again.
    func close() async {
        isGraceful.store(true, ordering: .releasing)
        jobs.close()
        await ended.wait()
    }

    // MARK: On the thread

    private static func run(
        _ handover: Handover<LogWriter>, _ jobs: Mailbox<Job>, isGraceful: () -> Bool
    ) {
        guard let writer = handover.take() else { return }
        while let waiting = jobs.take() { work(waiting[...], writer) }
        if !isGraceful() { writer.leaveWALOnClose() }
    }

    private static func work(_ waiting: ArraySlice<Job>, _ writer: LogWriter) {
        var rest = waiting
        while let first = rest.first {
            if case .recover(let since, let continuation) = first {
                continuation.resume(
                    returning: Result { () throws(EventLogError) in
                        try writer.recover(idempotencySince: since)
                    })
                rest = rest.dropFirst()
                continue
            }
            let group = group(at: rest)
            rest = rest.dropFirst(group.batches.count)
            let answers = writer.store(group.batches)
            for (continuation, answer) in zip(group.continuations, answers) {
                continuation.resume(returning: answer)
            }
            writer.checkpointIfDue()
        }
    }

    /// The batches at the front that share a transaction.
    private static func group(
        at jobs: ArraySlice<Job>
    ) -> (batches: [AppendBatch], continuations: [CheckedContinuation<Receipt, Never>]) {
        var batches: [AppendBatch] = []
        var continuations: [CheckedContinuation<Receipt, Never>] = []
        var events = 0
        for job in jobs {
            guard case .append(let batch, let continuation) = job, events < groupEventsMax else {
                break
            }
            batches.append(batch)
            continuations.append(continuation)
            events += max(batch.events.count, 1)
        }
        return (batches, continuations)
    }
}
