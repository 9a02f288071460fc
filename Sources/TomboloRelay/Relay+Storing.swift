import TomboloCore
import TomboloEventLog
import TomboloLoop

// Stores batches in the log. It may be full, or silent because its disk or database hangs.

extension Relay {
    /// Interval between attempts while the log is full.
    private static let roomRetry = Duration.seconds(1)

    /// Stores a batch. If the log is full, nothing was stored: tries the same batch again until
    /// there is space, and no new requests are accepted meanwhile. Any other error ends the relay.
    func store(_ batch: AppendBatch) async throws -> AppendReceipt {
        while true {
            switch await attempt(batch) {
            case .success(let receipt):
                if roomHint != nil { report(Self.logHasRoom, of: .main) }
                roomHint = nil
                noteStoredClock()
                return receipt
            case .failure(.full(let hint)):
                if writesAll { throw EventLogError.full(hint: hint) }
                if roomHint != hint { report(Self.logFull(hint), of: .main) }
                roomHint = hint
                try await loop.sleep(for: Self.roomRetry)
            case .failure(let error): throw error
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
        let left = waiting.sorted { $0.key.rawValue < $1.key.rawValue }
        waiting = [:]
        for (_, waiter) in left { answer(waiter, Self.silent) }
        wakeWatchers()
    }

    static let silent = Answer.refused(
        Refusal(
            .logSilent,
            "the log does not answer; whether this is stored is not known: ask again, with the same "
                + "Idempotency-Key"))
}
