import TomboloCore
import TomboloEventLog
import TomboloLoop

// A log that does not answer: a database that is away, a disk that hangs.

/// How long the log has had the newest batch.
struct LogSilence {
    /// Who waits for an answer is answered after this, whatever becomes of the batch.
    static let patience: Int64 = 10_000_000_000
    /// The timer is set to whole seconds: else each batch would set it anew.
    private static let step: Int64 = 1_000_000_000

    private var dueAt: Int64?
    /// Its patience is over, and no answer is there.
    private(set) var isSilent = false

    mutating func begin(_ now: MonotonicInstant) {
        let due = now.nanoseconds + Self.patience + Self.step - 1
        dueAt = due - due % Self.step
    }

    /// When to look, in nanoseconds of the loop's clock; nil: there is nothing to see.
    var deadline: Int64? { isSilent ? nil : dueAt }

    mutating func fallsSilent(_ now: MonotonicInstant) -> Bool {
        guard let dueAt, !isSilent, now.nanoseconds >= dueAt else { return false }
        isSilent = true
        return true
    }

    /// The log has answered. Says whether it was silent.
    mutating func end() -> Bool {
        defer { (dueAt, isSilent) = (nil, false) }
        return isSilent
    }
}

extension Relay {
    func attempt(_ batch: AppendBatch) async -> Result<AppendReceipt, EventLogError> {
        let begin = loop.now
        silence.begin(begin)
        // Deadlines of destinations do not wait for the disk; nor do those who wait for an answer.
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

    /// Who waits is answered; what they asked for goes on by itself when the log answers.
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
