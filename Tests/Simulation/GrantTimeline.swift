import TomboloCore
import TomboloLoop

/// Which budget class holds where, as far as anybody outside the relay can know: between the
/// moment at which a change was asked for and its answer, nobody does.
struct GrantTimeline {
    struct Change {
        var asked: MonotonicInstant
        /// Nil until it was answered.
        var known: MonotonicInstant?
        var budgetClass: BudgetClass
    }

    /// A time in which one class holds for sure.
    struct Period {
        var from: MonotonicInstant
        var to: MonotonicInstant
        var budgetClass: BudgetClass
    }

    private static let end = MonotonicInstant(nanoseconds: .max)

    private(set) var changes: [Change]

    /// A class from the beginning on.
    init(_ budgetClass: BudgetClass) {
        let start = MonotonicInstant(nanoseconds: 0)
        changes = [Change(asked: start, known: start, budgetClass: budgetClass)]
    }

    /// The class that was asked for last.
    var latest: BudgetClass { changes[changes.count - 1].budgetClass }

    mutating func ask(_ budgetClass: BudgetClass, at instant: MonotonicInstant) {
        changes.append(Change(asked: instant, known: nil, budgetClass: budgetClass))
    }

    /// The last change is in force.
    mutating func confirm(at instant: MonotonicInstant) {
        if changes[changes.count - 1].known == nil { changes[changes.count - 1].known = instant }
    }

    var periods: [Period] {
        changes.indices.compactMap { index in
            guard let from = changes[index].known else { return nil }
            let to = index + 1 < changes.count ? changes[index + 1].asked : Self.end
            return from < to
                ? Period(from: from, to: to, budgetClass: changes[index].budgetClass) : nil
        }
    }

    /// Every class that may ever have held.
    var all: Set<BudgetClass> { Set(changes.map(\.budgetClass)) }

    /// Whether a class may hold at a moment.
    func mayHold(_ budgetClass: BudgetClass, at instant: MonotonicInstant) -> Bool {
        for index in changes.indices.reversed() where changes[index].asked <= instant {
            if changes[index].budgetClass == budgetClass { return true }
            if let known = changes[index].known, known < instant { return false }
        }
        return false
    }
}
