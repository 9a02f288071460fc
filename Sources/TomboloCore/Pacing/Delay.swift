/// For how long what waits at a destination is held, and by what.
struct Delay: Hashable, Sendable {
    /// Steady time at which the oldest change came that no push carries yet; where only a
    /// repetition waits, since when it does.
    let since: Instant
    /// Whether a change waits, and not only a repetition.
    let isOfChange: Bool
    private(set) var hold: Hold
    private var heldSince: Instant
    /// What held it before `hold`, in the order of the first time.
    private var parts: [HoldSpan] = []

    init(_ hold: Hold, isOfChange: Bool, now: Instant) {
        since = now
        heldSince = now
        self.hold = hold
        self.isOfChange = isOfChange
    }

    /// Something else holds it from now on.
    mutating func change(to next: Hold, now: Instant) {
        endHold(now: now)
        hold = next
        heldSince = now
    }

    private mutating func endHold(now: Instant) {
        let span = now - heldSince
        // What held it for a turn only, as the disk of a test does, is no news.
        guard span > .zero else { return }
        if let index = parts.firstIndex(where: { $0.hold == hold }) {
            parts[index].span = parts[index].span + span
        } else {
            parts.append(HoldSpan(hold: hold, span: span))
        }
    }

    /// What has held it until now.
    func held(until now: Instant) -> [HoldSpan] {
        var ended = self
        ended.endHold(now: now)
        return ended.parts
    }
}
