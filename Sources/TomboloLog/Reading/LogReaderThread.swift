import TomboloEventLog

/// A reader's thread: questions in their order, one at a time.
final class LogReaderThread: Sendable {
    private typealias Question = @Sendable (LogReader) -> Void

    private let questions = Mailbox<Question>()
    private let ended = Completion()
    private let thread: WorkerThread

    /// `name` has at most 15 bytes.
    init(_ reader: LogReader, name: String) throws(EventLogError) {
        let handover = Handover(reader)
        thread = try WorkerThread(name: name) { [questions, ended] in
            Self.run(handover, questions)
            ended.complete()
        }
    }

    deinit {
        questions.close()
        thread.join()
    }

    private static func run(_ handover: Handover<LogReader>, _ questions: Mailbox<Question>) {
        guard let reader = handover.take() else { return }
        while let next = questions.take() {
            for question in next { question(reader) }
        }
    }

    /// Asks, and comes back with the answer on the caller's executor.
    func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (LogReader) throws(EventLogError) -> Answer
    ) async -> Result<Answer, EventLogError> {
        await withCheckedContinuation { continuation in
            let isTaken = questions.put { reader in
                continuation.resume(
                    returning: Result { () throws(EventLogError) in try question(reader) })
            }
            if !isTaken { continuation.resume(returning: .failure(.closed)) }
        }
    }

    func close() async {
        questions.close()
        await ended.wait()
    }
}
