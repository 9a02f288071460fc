import TomboloCore
import TomboloEventLog

/// The writer's thread. It commits all waiting batches together: under load one fsync serves many
/// batches, and when idle no batch waits for others.
typealias LogWriterThread = WorkerThread<LogWriterJob>

enum LogWriterJob: Sendable {
    case append(AppendBatch, LogWriterThread.Asking<AppendReceipt>)
    case recover(since: Instant, LogWriterThread.Asking<RecoveredLog>)
    /// An erasure. Batches are appended between its pieces.
    case erase(LogErasure, LogWriterThread.Asking<LogErased>)
    /// The last job before a log is closed. It is missing if the log is released without `close`.
    case close
}

extension LogWriterThread {
    /// A transaction takes no further batch once it has this many events. Then its rows fit into
    /// the page cache, and its first batch does not wait long.
    static var groupEventsMax: Int { 1_000 }

    /// `closed` is called after the engine is closed.
    convenience init(
        _ writer: LogWriter, room: any LogRoom, closed: @escaping @Sendable () -> Void
    ) throws(EventLogError) {
        try self.init(name: "log writer", work: { Self.run(writer, $0, room) }, ended: closed)
    }

    private static func run(
        _ writer: LogWriter, _ jobs: Mailbox<LogWriterJob>, _ room: any LogRoom
    ) {
        var isClosing = false
        var erasures = ErasureQueue()
        while let waiting = jobs.take(
            sleeps: erasures.waiting.isEmpty && !writer.goesOnCutting)
        {
            var rest = waiting[...]
            while let job = rest.first {
                switch job {
                case .append:
                    append(&rest, writer, room)
                    continue
                case .recover(let since, let continuation):
                    continuation.resume(
                        returning: Result { () throws(EventLogError) in
                            try writer.recover(idempotencySince: since)
                        })
                case .erase(let erasure, let continuation):
                    erasures.waiting.append((erasure, continuation))
                case .close: isClosing = true
                }
                rest.removeFirst()
            }
            erasures.work(writer)
            guard jobs.isEmpty else { continue }
            writer.cutIfDue()
            writer.checkpointIfDue()
        }
        // The log closes: unfinished erasures fail, and their callers must repeat them.
        for (_, asking) in erasures.waiting { asking.resume(returning: .failure(.closed)) }
        if isClosing { writer.writeLaterHeads() } else { writer.leaveWALOnClose() }
    }

    /// Stores the batches at the front of the queue in one transaction.
    private static func append(
        _ jobs: inout ArraySlice<LogWriterJob>, _ writer: LogWriter, _ room: any LogRoom
    ) {
        var batches: [AppendBatch] = []
        var continuations: [Asking<AppendReceipt>] = []
        var events = 0
        while events < groupEventsMax, case .append(let batch, let continuation)? = jobs.first {
            batches.append(batch)
            continuations.append(continuation)
            events += max(batch.events.count, 1)
            jobs.removeFirst()
        }
        var answers = writer.store(batches)
        let isFull = answers.contains { if case .failure(.full) = $0 { true } else { false } }
        if isFull, room.makeRoom() { answers = writer.store(batches) }
        for (continuation, answer) in zip(continuations, answers) {
            continuation.resume(returning: answer)
        }
        if writer.owesCut { writer.cutIfDue() }
        writer.checkpointIfDue()
    }
}

/// The requested erasures in order. `work` does one piece of the first one.
private struct ErasureQueue {
    var waiting: [(LogErasure, LogWriterThread.Asking<LogErased>)] = []
    private var running: LogErasing?

    mutating func work(_ writer: LogWriter) {
        guard let (erasure, continuation) = waiting.first else { return }
        do throws(EventLogError) {
            if running == nil { running = try writer.begin(erasure) }
            if var erasing = running, !erasing.isDone {
                try writer.piece(of: &erasing)
                running = erasing
                return
            }
            let erased = try running.map(writer.finish) ?? LogErased()
            continuation.resume(returning: .success(erased))
        } catch {
            continuation.resume(returning: .failure(error))
        }
        running = nil
        waiting.removeFirst()
    }
}
