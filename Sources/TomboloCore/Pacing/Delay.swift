/// How long a destination has waited to send, and why.
struct Delay: Hashable, Sendable {
    /// Monotonic time since which the oldest unsent change waits. If only a repetition waits: since
    /// when it does.
    let since: Instant
    /// True if a change waits; false if only a repetition does.
    let isOfChange: Bool
    private(set) var hold: Hold
    private var heldSince: Instant
    /// Earlier wait reasons with their lengths, in the order in which each first occurred.
    private var parts: [HoldSpan] = []

    init(_ hold: Hold, isOfChange: Bool, now: Instant) {
        since = now
        heldSince = now
        self.hold = hold
        self.isOfChange = isOfChange
    }

    mutating func change(to next: Hold, now: Instant) {
        endHold(now: now)
        hold = next
        heldSince = now
    }

    private mutating func endHold(now: Instant) {
        let span = now - heldSince
        // A wait within one turn has no length, so it does not count.
        guard span > .zero else { return }
        if let index = parts.firstIndex(where: { $0.hold == hold }) {
            parts[index].span = parts[index].span + span
        } else {
            parts.append(HoldSpan(hold: hold, span: span))
        }
    }

    /// All wait reasons until `now`, with their lengths.
    func held(until now: Instant) -> [HoldSpan] {
        var ended = self
        ended.endHold(now: now)
        return ended.parts
    }
}
