import TomboloCore
import TomboloEventLog

/// The writer's thread: takes all batches that wait and commits them together, so that under load
/// one fsync serves many and when idle nobody waits for company.
final class LogWriterThread: Sendable {
    /// A transaction takes no further batch once it has this many events: its rows fit the page
    /// cache, and the first of them does not wait long.
    static let groupEventsMax = 1_000

    private typealias Receipt = Result<AppendReceipt, EventLogError>
    private typealias Erased = Result<LogErased, EventLogError>

    private enum Job: Sendable {
        case append(AppendBatch, CheckedContinuation<Receipt, Never>)
        case recover(
            since: Instant, CheckedContinuation<Result<RecoveredLog, EventLogError>, Never>)
        case erase(LogErasure, CheckedContinuation<Erased, Never>)
        /// The last one of a log that is closed; one that is dropped has none.
        case close
    }

    private struct Group {
        var batches: [AppendBatch] = []
        var continuations: [CheckedContinuation<Receipt, Never>] = []
    }

    private let jobs = Mailbox<Job>()
    private let ended = Completion()
    private let thread: WorkerThread

    /// `closed` is called after the engine is closed.
    init(
        _ writer: LogWriter, room: any LogRoom, closed: @escaping @Sendable () -> Void
    ) throws(EventLogError) {
        let handover = Handover(writer)
        thread = try WorkerThread(name: "log writer") { [jobs, ended] in
            Self.run(handover, jobs, room)
            closed()
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

    /// Batches that come meanwhile do not wait for it.
    func erase(_ erasure: LogErasure) async -> Result<LogErased, EventLogError> {
        await withCheckedContinuation { continuation in
            if !jobs.put(.erase(erasure, continuation)) {
                continuation.resume(returning: .failure(.closed))
            }
        }
    }

    /// Finishes what waits and closes the engine; back when another relay may open the log.
    func close() async {
        _ = jobs.put(.close)
        jobs.close()
        await ended.wait()
    }

    // MARK: On the thread

    private static func run(
        _ handover: Handover<LogWriter>, _ jobs: Mailbox<Job>, _ room: any LogRoom
    ) {
        guard let writer = handover.take() else { return }
        var isClosing = false
        var erasures = ErasureQueue()
        while let waiting = erasures.isEmpty && !writer.goesOnCutting
            ? jobs.take() : jobs.takeNow()
        {
            var rest = waiting[...]
            while let job = rest.first {
                switch job {
                case .append:
                    append(group(from: &rest), writer, room)
                    continue
                case .recover(let since, let continuation):
                    continuation.resume(
                        returning: Result { () throws(EventLogError) in
                            try writer.recover(idempotencySince: since)
                        })
                case .erase(let erasure, let continuation):
                    erasures.add(erasure, continuation)
                case .close: isClosing = true
                }
                rest.removeFirst()
            }
            erasures.work(writer)
            guard jobs.isEmpty else { continue }
            writer.cutIfDue()
            writer.checkpointIfDue()
        }
        erasures.giveUp()
        if isClosing { writer.writeLaterHeads() } else { writer.leaveWALOnClose() }
    }

    /// Erasures in their order, a piece of the first at a time.
    private struct ErasureQueue {
        private var waiting: [(LogErasure, CheckedContinuation<Erased, Never>)] = []
        private var running: LogErasing?

        var isEmpty: Bool { waiting.isEmpty }

        mutating func add(
            _ erasure: LogErasure, _ continuation: CheckedContinuation<Erased, Never>
        ) {
            waiting.append((erasure, continuation))
        }

        mutating func work(_ writer: LogWriter) {
            guard let (erasure, continuation) = waiting.first else { return }
            do throws(EventLogError) {
                if running == nil { running = try writer.begin(erasure) }
                guard var erasing = running else {
                    return end(continuation, .success(LogErased()))
                }
                if erasing.isDone {
                    return end(continuation, .success(try writer.finish(erasing)))
                }
                try writer.piece(of: &erasing)
                running = erasing
            } catch {
                end(continuation, .failure(error))
            }
        }

        private mutating func end(
            _ continuation: CheckedContinuation<Erased, Never>, _ answer: Erased
        ) {
            running = nil
            waiting.removeFirst()
            continuation.resume(returning: answer)
        }

        /// The log is closed: what is not through is asked for again.
        mutating func giveUp() {
            for (_, continuation) in waiting { continuation.resume(returning: .failure(.closed)) }
            waiting = []
        }
    }

    private static func append(_ group: Group, _ writer: LogWriter, _ room: any LogRoom) {
        var answers = writer.store(group.batches)
        if answers.contains(where: Self.isFull), room.makeRoom() {
            answers = writer.store(group.batches)
        }
        for (continuation, answer) in zip(group.continuations, answers) {
            continuation.resume(returning: answer)
        }
        if writer.owesCut { writer.cutIfDue() }
        writer.checkpointIfDue()
    }

    private static func isFull(_ answer: Receipt) -> Bool {
        if case .failure(.full) = answer { true } else { false }
    }

    /// Takes the batches at the front that share a transaction.
    private static func group(from jobs: inout ArraySlice<Job>) -> Group {
        var group = Group()
        var events = 0
        while events < groupEventsMax, case .append(let batch, let continuation)? = jobs.first {
            group.batches.append(batch)
            group.continuations.append(continuation)
            events += max(batch.events.count, 1)
            jobs.removeFirst()
        }
        return group
    }
}
