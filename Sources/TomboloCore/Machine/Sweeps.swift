/// Looks at many places that one request asks for. The work is done in pieces, so that other
/// requests are not held up: a pause may hold a million cards.
///
/// Sweeps run one after the other, each from its first place to its last. They are not on record:
/// after a crash everything is looked at anyway.
struct Sweeps: Sendable {
    enum Work: Sendable {
        /// Destinations that a pause holds, or held until now; nil: all destinations.
        case pause(Pause?)
        /// The grants of all devices, after a type has changed its class.
        case grants
    }

    /// Places that one piece passes over, and those of them that it works on.
    static let placesMax = 8_192
    static let worksMax = 256
    /// Beyond so many, the pauses that wait become one look at everything.
    static let pausesMax = 32

    private var waiting: [(work: Work, next: Int)] = []
    /// When the next piece is due.
    private(set) var dueAt: Instant?

    /// From the next piece on.
    mutating func add(_ work: Work, now: Instant) {
        defer { dueAt = dueAt ?? now }
        if work.isGrants {
            // All devices are looked at anew: what was left of an earlier look is part of it.
            waiting.removeAll { $0.work.isGrants }
            waiting.append((work, 0))
        } else if waiting.count < Self.pausesMax {
            waiting.append((work, 0))
        } else {
            waiting.removeAll { !$0.work.isGrants }
            waiting.append((.pause(nil), 0))
        }
    }

    /// What to go on with, and from which place; nil where nothing is due.
    func current(now: Instant) -> (work: Work, next: Int)? {
        guard let dueAt, dueAt <= now else { return nil }
        return waiting.first
    }

    /// The current one has come so far; nil: to its end. The next piece is due in the next turn:
    /// all inputs of one turn have one time, and together they do one piece.
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
