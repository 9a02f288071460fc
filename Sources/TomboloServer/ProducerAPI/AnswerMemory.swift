import TomboloAPI

/// The answers that were given last to requests with an idempotency key, so that the same request
/// gets the very same answer while this process lives.
///
/// It is a kindness, not a promise: what was forgotten, or given before a restart, is made again
/// from the log's row, with the same sequence, version and HTTP status; the rest tells of now.
struct AnswerMemory: Sendable {
    /// A retry comes within seconds; an answer has some 500 bytes.
    static let answersMax = 4_096

    private var answers: [Int64: CommandAnswer] = [:]
    /// Sequences in the order in which they came, as a ring once it is full.
    private var order: [Int64] = []
    private var oldest = 0

    /// By the event's sequence, which is one over all tenants.
    subscript(_ seq: Int64) -> CommandAnswer? { answers[seq] }

    mutating func remember(_ answer: CommandAnswer) {
        guard answers.updateValue(answer, forKey: answer.seq) == nil else { return }
        guard order.count == Self.answersMax else { return order.append(answer.seq) }
        answers[order[oldest]] = nil
        order[oldest] = answer.seq
        oldest = (oldest + 1) % Self.answersMax
    }
}
