import TomboloLoop

/// Measures for how long the log has been working on the newest batch.
struct LogSilence {
    /// Waiting callers get an answer after this time, even if the batch is not stored yet.
    static let patience: Int64 = 10_000_000_000
    /// The deadline is rounded up to whole seconds, so that not every batch resets the timer.
    private static let step: Int64 = 1_000_000_000

    private var dueAt: Int64?
    /// True if `patience` has passed without an answer from the log.
    private(set) var isSilent = false

    mutating func begin(_ now: MonotonicInstant) {
        let due = now.nanoseconds + Self.patience + Self.step - 1
        dueAt = due - due % Self.step
    }

    /// When to check next, in nanoseconds of the loop's clock; nil if there is nothing to check.
    var deadline: Int64? { isSilent ? nil : dueAt }

    mutating func fallsSilent(_ now: MonotonicInstant) -> Bool {
        guard let dueAt, !isSilent, now.nanoseconds >= dueAt else { return false }
        isSilent = true
        return true
    }

    /// Call it when the log has answered. Returns true if it was silent.
    mutating func end() -> Bool {
        defer { (dueAt, isSilent) = (nil, false) }
        return isSilent
    }
}
