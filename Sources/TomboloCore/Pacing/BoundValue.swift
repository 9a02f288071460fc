import TomboloJSON

/// A value that depends on the app's presence, at one destination: its final value, the progress of
/// its animation, and what the phone shows.
struct BoundValue: Sendable {
    /// The next push that the value needs.
    enum Turn: Hashable, Sendable {
        case due(Wish)
        case later(Instant)

        /// False for the last push: that of the final value.
        var isOnWay: Bool { self != .due(.latest(.high)) }
    }

    /// nil after a restart, until `follow` is called.
    private var isInFront: Bool?
    private var way: (tween: Tween, since: Instant)?
    /// The newest step of the animation that was sent.
    private var step: Int64 = 0
    /// The last value that a push has brought to the phone; nil: none yet.
    var shown: JSON?

    init(shown: JSON?) { self.shown = shown }

    /// Starts an animation from the present value if the presence has changed. The first value, and
    /// one while `jumps`, is not animated.
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

    /// The value now: that of the newest due step, so that calls between two steps agree.
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

    /// The next push that the value needs; nil if the phone shows the final value.
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

    /// Notes that a push contains the present value.
    mutating func sent(now: Instant, every: Span) {
        if let way { step = max(step, steps(way.since, now, every)) }
    }
}
