import TomboloCore

/// Collects answers and returns them together when the last one comes. On the relay's loop.
final class AnswerCollection {
    private var answers: [Answer]
    private var missing: Int
    private let continuation: UnsafeContinuation<[Answer], Never>

    /// - Parameter count: number of answers, at least 1.
    init(_ count: Int, _ continuation: UnsafeContinuation<[Answer], Never>) {
        // Each is replaced before any is returned.
        answers = Array(repeating: .replay(seq: 0), count: count)
        missing = count
        self.continuation = continuation
    }

    /// Sets one answer. Call it once for each index.
    func set(_ answer: consuming Answer, at index: Int) {
        answers[index] = answer
        missing -= 1
        if missing == 0 { continuation.resume(returning: answers) }
    }
}
