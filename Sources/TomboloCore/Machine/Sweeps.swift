/// Work on many slots after one request, done in pieces so that other requests do not wait: a pause
/// may hold a million cards.
///
/// Sweeps run one after the other, each from its first slot to its last. They are not recorded:
/// after a crash everything is evaluated anyway.
struct Sweeps: Sendable {
    enum Work: Sendable {
        /// Destinations that a pause begins or ends to hold; nil: all destinations.
        case pause(Pause?)
        /// The grants of all devices, after a type has changed its class.
        case grants
    }

    /// Most slots of a piece, and most of them that need work.
    static let placesMax = 8_192
    static let worksMax = 256
    /// Beyond this number, the waiting pauses are merged into one sweep of all destinations.
    static let pausesMax = 32

    private var waiting: [(work: Work, next: Int)] = []
    /// When the next piece is due.
    private(set) var dueAt: Instant?

    /// Adds work, which begins with the next piece.
    mutating func add(_ work: Work, now: Instant) {
        defer { dueAt = dueAt ?? now }
        if work.isGrants {
            // The new sweep covers all devices, so it replaces an earlier one.
            waiting.removeAll { $0.work.isGrants }
            waiting.append((work, 0))
        } else if waiting.count < Self.pausesMax {
            waiting.append((work, 0))
        } else {
            waiting.removeAll { !$0.work.isGrants }
            waiting.append((.pause(nil), 0))
        }
    }

    /// The present work and its next slot; nil if nothing is due.
    func current(now: Instant) -> (work: Work, next: Int)? {
        guard let dueAt, dueAt <= now else { return nil }
        return waiting.first
    }

    /// Moves the present work to its next slot; nil: it is done. The next piece is due in the next
    /// turn: all inputs of one turn share one time and do one piece together.
    mutating func advance(to next: Int?, now: Instant) {
        if let next {
            waiting[waiting.startIndex].next = next
        } else {
            waiting.removeFirst()
        }
        dueAt = waiting.isEmpty ? nil : now + Span(nanoseconds: 1)
    }
}

extension Sweeps.Work {
    fileprivate var isGrants: Bool {
        if case .grants = self { true } else { false }
    }
}
