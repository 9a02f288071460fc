import TomboloLoop

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
