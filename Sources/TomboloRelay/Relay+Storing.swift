import TomboloCore
import TomboloEventLog
import TomboloLoop

// Stores batches in the log. It may be full, or silent because its disk or database hangs.

extension Relay {
    /// Interval between attempts while the log stores nothing.
    private static let retry = Duration.seconds(1)

    /// Stores a batch. If the log is full or refuses, nothing was stored: tries the same batch
    /// again until it is stored, and no new requests are accepted meanwhile. Any other error ends
    /// the relay.
    func store(_ batch: AppendBatch) async throws -> AppendReceipt {
        while true {
            switch await attempt(batch) {
            case .success(let receipt):
                if let refusing { report(Self.endNote(refusing), of: .main) }
                refusing = nil
                noteStoredClock()
                return receipt
            case .failure(let error):
                guard error.mayPass, !writesAll else { throw error }
                if refusing != error { report(Self.refusalNote(error), of: .main) }
                refusing = error
                if case .unavailable = error, let refusalOfAll { answerWaiting(refusalOfAll) }
                try await loop.sleep(for: Self.retry)
            }
        }
    }

    func attempt(_ batch: AppendBatch) async -> Result<AppendReceipt, EventLogError> {
        let begin = loop.now
        silence.begin(begin)
        // Set the timer, because destinations' deadlines must not wait for the disk.
        setTimer(core.nextWake, now: steadyNow())
        defer {
            if silence.end() {
                report(
                    OperatorNote(
                        .info, .logAnswers, "the log answers again: events are taken"))
            }
        }
        do {
            let receipt = try await log.append(batch)
            commitTimes.count(Span(nanoseconds: (loop.now - begin).nanoseconds))
            return .success(receipt)
        } catch { return .failure(error) }
    }

    /// Answers the waiting callers with a refusal. Their requests end when the log answers.
    func fallSilent() {
        report(
            OperatorNote(
                .error, .logSilent,
                "the log has not answered for 10 s: events are refused until it does",
                remedy: "see that its disk, or its database, works"))
        answerWaiting(Self.silent)
    }

    private func answerWaiting(_ refusal: Answer) {
        let left = waiting.sorted { $0.key.rawValue < $1.key.rawValue }
        waiting = [:]
        for (_, waiter) in left { answer(waiter, refusal) }
        wakeWatchers()
    }

    static let silent = Answer.refused(
        Refusal(
            .logSilent,
            "the log does not answer; whether this is stored is not known: ask again, with the same "
                + "Idempotency-Key"))
}
