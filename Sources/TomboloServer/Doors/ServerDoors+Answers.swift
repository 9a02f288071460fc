import TomboloAPI
import TomboloCore
import TomboloRelay

/// What the doors make of the core's answers.
extension ServerDoors {
    /// What `run` would change now. Throws why it would be refused.
    func tried<Value: Sendable>(
        _ run: @Sendable (borrowing Core, Instant) throws(Refusal) -> Value
    ) async throws(Problem) -> Value {
        try Self.found(await relay.attempt(run))
    }

    /// The value of a question or a dry run. Throws the problem of a refusal.
    static func found<Value>(_ run: Result<Value, Refusal>) throws(Problem) -> Value {
        switch run {
        case .success(let value): return value
        case .failure(let refusal): throw Problem(refusal)
        }
    }

    /// What a request has stored. Throws the problem of any other answer.
    static func stored(_ answer: Answer, _ what: String) throws(Problem) -> Stored {
        guard case .stored(let stored) = answer else { throw answer.fault(of: what) }
        return stored
    }
}

extension Answer {
    /// The problem of a refusal, or of an answer that the request cannot get.
    func fault(of what: String) -> Problem {
        if case .refused(let refusal) = self { return Problem(refusal) }
        return Problem(.internalError, "The relay answered \(what) with something else.")
    }
}
