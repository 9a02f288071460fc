import TomboloJSON

/// A value that follows where the app is, at one destination: where it goes, how far it has come,
/// and what the phone has of it.
struct BoundValue: Sendable {
    /// What a destination is to be sent for it.
    enum Turn: Hashable, Sendable {
        case due(Wish)
        case later(Instant)

        /// Whether more steps follow.
        var isOnWay: Bool { self != .due(.latest(.high)) }
    }

    /// Nil after a restart, until the first look.
    private var isInFront: Bool?
    private var way: (tween: Tween, since: Instant)?
    /// The newest step of the way that was sent.
    private var step: Int64 = 0
    /// What Apple took last; nil: no push brought one yet.
    var shown: JSON?

    /// As a checkpoint has it.
    init(shown: JSON?) { self.shown = shown }

    /// The app came or went. It goes on from the value that it has now; a card begins at rest.
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

    /// The value to send at a moment: that of the step that is due, so that every run has the same.
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

    /// What is next; nil where the phone has it all.
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

    /// A push goes with the value of this moment.
    mutating func sent(now: Instant, every: Span) {
        if let way { step = max(step, steps(way.since, now, every)) }
    }
}
