/// How long a destination has waited to send, and why.
struct Delay: Hashable, Sendable {
    /// Monotonic time since which the oldest unsent change waits. If only a repetition waits: since
    /// when it does.
    let since: Instant
    /// True if a change waits; false if only a repetition does.
    let isOfChange: Bool
    private(set) var reason: WaitReason
    private var heldSince: Instant
    /// Earlier wait reasons with their lengths, in the order in which each first occurred.
    private var parts: [WaitSpan] = []

    init(_ reason: WaitReason, isOfChange: Bool, now: Instant) {
        since = now
        heldSince = now
        self.reason = reason
        self.isOfChange = isOfChange
    }

    mutating func change(to next: WaitReason, now: Instant) {
        endReason(now: now)
        reason = next
        heldSince = now
    }

    private mutating func endReason(now: Instant) {
        let span = now - heldSince
        // A wait within one turn has no length, so it does not count.
        guard span > .zero else { return }
        if let index = parts.firstIndex(where: { $0.reason == reason }) {
            parts[index].span = parts[index].span + span
        } else {
            parts.append(WaitSpan(reason: reason, span: span))
        }
    }

    /// The reason that held it longest until `now`.
    func longest(until now: Instant) -> WaitReason {
        held(until: now).max { $0.span < $1.span }?.reason ?? reason
    }

    /// All wait reasons until `now`, with their lengths.
    func held(until now: Instant) -> [WaitSpan] {
        var ended = self
        ended.endReason(now: now)
        return ended.parts
    }
}
