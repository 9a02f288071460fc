/// Work on many slots after one request, for example after a pause of a million cards. It is done
/// in pieces, so that other requests do not wait. Sweeps run one after the other, each over all
/// slots. They are not stored, because start-up examines all slots anyway.
struct Sweeps: Sendable {
    enum Work: Hashable, Sendable {
        /// Examines the destinations that a pause affects; nil: all destinations.
        case pause(Pause?)
        /// Adopts the grants of all devices, after a type has got another budget class.
        case grants
        /// Corrects what destinations have sent, after the wall clock was set.
        case clock
    }

    /// Above this number, one sweep of all destinations replaces those for single pauses.
    static let pausesMax = 32

    private var waiting: [(work: Work, next: Int)] = []
    /// When the next piece is due.
    private(set) var dueAt: Instant?

    /// Adds work, which begins with the next piece.
    mutating func add(_ work: Work, now: Instant) {
        defer { dueAt = dueAt ?? now }
        var work = work
        switch work {
        // The new sweep is for all slots, so it replaces an earlier one.
        case .grants, .clock: waiting.removeAll { $0.work == work }
        case .pause:
            guard waiting.count >= Self.pausesMax else { break }
            waiting.removeAll { if case .pause = $0.work { true } else { false } }
            work = .pause(nil)
        }
        waiting.append((work, 0))
    }

    /// The present work and its next slot; nil if no piece is due.
    func current(now: Instant) -> (work: Work, next: Int)? {
        guard let dueAt, dueAt <= now else { return nil }
        return waiting.first
    }

    /// Sets the next slot of the present work; nil: it is done. The next piece is due in the next
    /// turn: all inputs of one turn have the same `now`, so a turn does only one piece.
    mutating func advance(to next: Int?, now: Instant) {
        if let next {
            waiting[waiting.startIndex].next = next
        } else {
            waiting.removeFirst()
        }
        dueAt = waiting.isEmpty ? nil : now + Span(nanoseconds: 1)
    }
}
