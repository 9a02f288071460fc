import TomboloAPI

/// The newest answers to requests with an idempotency key, so that a repeated request gets exactly
/// the same answer while this process lives.
///
/// It is only a cache. A lost answer is made again from the log's row, with the same sequence,
/// version and HTTP status; the rest describes the present.
struct AnswerMemory: Sendable {
    /// Retries come within seconds, and an answer has about 500 bytes.
    static let answersMax = 4_096

    private var answers: [Int64: CommandAnswer] = [:]
    /// Sequence numbers in order of arrival; a ring when it is full.
    private var order: [Int64] = []
    private var oldest = 0

    /// By the event's sequence number, which is unique over all tenants.
    subscript(_ seq: Int64) -> CommandAnswer? { answers[seq] }

    mutating func remember(_ answer: CommandAnswer) {
        guard answers.updateValue(answer, forKey: answer.seq) == nil else { return }
        guard order.count == Self.answersMax else { return order.append(answer.seq) }
        answers[order[oldest]] = nil
        order[oldest] = answer.seq
        oldest = (oldest + 1) % Self.answersMax
    }
}
