/// Work on many slots after one request, for example after a pause of a million cards. It is done
/// in pieces, so that other requests do not wait. Sweeps run one after the other, each over all
/// slots. They are not stored, because start-up examines all slots anyway.
struct Sweeps: Sendable {
    enum Work: Sendable {
        /// Examines the destinations that a pause affects; nil: all destinations.
        case pause(Pause?)
        /// Adopts the grants of all devices, after a type has got another budget class.
        case grants
    }

    /// Maximum number of slots in a piece, and of slots in it that need work.
    static let placesMax = 8_192
    static let worksMax = 256
    /// Above this number, one sweep of all destinations replaces those for single pauses.
    static let pausesMax = 32

    private var waiting: [(work: Work, next: Int)] = []
    /// When the next piece is due.
    private(set) var dueAt: Instant?

    /// Adds work, which begins with the next piece.
    mutating func add(_ work: Work, now: Instant) {
        defer { dueAt = dueAt ?? now }
        if work.isGrants {
            // The new sweep is for all devices, so it replaces an earlier one.
            waiting.removeAll { $0.work.isGrants }
            waiting.append((work, 0))
        } else if waiting.count < Self.pausesMax {
            waiting.append((work, 0))
        } else {
            waiting.removeAll { !$0.work.isGrants }
            waiting.append((.pause(nil), 0))
        }
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

extension Sweeps.Work {
    fileprivate var isGrants: Bool {
        if case .grants = self { true } else { false }
    }
}
