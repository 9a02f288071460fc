/// How long pushes of a destination have waited, and why.
struct Delay: Hashable, Sendable {
    /// Monotonic time of the oldest change that no push contains yet; if only a repetition waits,
    /// the beginning of its wait.
    let since: Instant
    /// True if a change waits, not only a repetition.
    let isOfChange: Bool
    private(set) var hold: Hold
    private var heldSince: Instant
    /// The wait reasons before `hold`, in the order in which each first occurred.
    private var parts: [HoldSpan] = []

    init(_ hold: Hold, isOfChange: Bool, now: Instant) {
        since = now
        heldSince = now
        self.hold = hold
        self.isOfChange = isOfChange
    }

    /// Changes the wait reason.
    mutating func change(to next: Hold, now: Instant) {
        endHold(now: now)
        hold = next
        heldSince = now
    }

    private mutating func endHold(now: Instant) {
        let span = now - heldSince
        // A wait within one turn, for example for the disk of a test, does not count.
        guard span > .zero else { return }
        if let index = parts.firstIndex(where: { $0.hold == hold }) {
            parts[index].span = parts[index].span + span
        } else {
            parts.append(HoldSpan(hold: hold, span: span))
        }
    }

    /// All wait reasons until now.
    func held(until now: Instant) -> [HoldSpan] {
        var ended = self
        ended.endHold(now: now)
        return ended.parts
    }
}
