import TomboloJSON

/// A value that depends on the app's presence, at one destination: its target, its progress, and
/// the phone's value.
struct BoundValue: Sendable {
    /// The next push for it.
    enum Turn: Hashable, Sendable {
        case due(Wish)
        case later(Instant)

        /// True if more steps follow.
        var isOnWay: Bool { self != .due(.latest(.high)) }
    }

    /// Nil after a restart, until the first evaluation.
    private var isInFront: Bool?
    private var way: (tween: Tween, since: Instant)?
    /// The newest step that was sent.
    private var step: Int64 = 0
    /// The last value that Apple accepted; nil: none yet.
    var shown: JSON?

    /// Restores it from a checkpoint.
    init(shown: JSON?) { self.shown = shown }

    /// Follows the app's presence, from the present value; a new card begins without animation.
    mutating func follow(
        _ binding: PresenceBinding, inFront: Bool, jumps: Bool, now: Instant, every: Span
    ) {
        if jumps { way = nil }
        guard inFront != isInFront else { return }
        let before = isInFront.map { _ in value(of: binding, at: now, every: every) }
        isInFront = inFront
        step = 0
        way = jumps ? nil : before.map { (binding.way(inFront: inFront, from: $0), now) }
    }

    /// The value at a moment: that of the due step, so that repeated calls agree.
    func value(of binding: PresenceBinding, at now: Instant, every: Span) -> JSON {
        guard let way, now < way.since + way.tween.length else {
            return binding.rest(inFront: isInFront ?? false)
        }
        return way.tween.json(
            at: Span(nanoseconds: steps(way.since, now, every) * every.nanoseconds))
    }

    private func steps(_ since: Instant, _ now: Instant, _ every: Span) -> Int64 {
        max(0, (now - since).nanoseconds) / every.nanoseconds
    }

    /// The next push; nil if the phone has the final value.
    mutating func turn(of binding: PresenceBinding, now: Instant, every: Span) -> Turn? {
        if let way {
            let end = way.since + way.tween.length
            if now < end {
                let due = steps(way.since, now, every)
                if due > step { return .due(.frame) }
                let next = way.since + Span(nanoseconds: (step + 1) * every.nanoseconds)
                return .later(min(next, end))
            }
            self.way = nil
        }
        guard let shown, shown != binding.rest(inFront: isInFront ?? false) else { return nil }
        return .due(.latest(.high))
    }

    /// Notes that a push has the present value.
    mutating func sent(now: Instant, every: Span) {
        if let way { step = max(step, steps(way.since, now, every)) }
    }
}
