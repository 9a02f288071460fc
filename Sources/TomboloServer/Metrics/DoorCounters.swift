import TomboloAPI

/// What went through the doors since the process began.
struct DoorCounters: Sendable {
    private struct Answered: Hashable {
        let operation: Operation
        let status: Int
    }

    private var answered: [Answered: Int64] = [:]
    private(set) var problems: [ProblemCode: Int64] = [:]

    /// Statuses that every operation is shown with from the start, so that a rate of failures is
    /// there before the first failure.
    private static let shown = [200, 500]

    mutating func count(_ operation: Operation, status: Int) {
        answered[Answered(operation: operation, status: status), default: 0] += 1
    }

    mutating func count(_ problem: ProblemCode) { problems[problem, default: 0] += 1 }

    /// By operation and status.
    var requests: [([String], Int64)] {
        Operation.allCases.flatMap { operation in
            let statuses = answered.keys.filter { $0.operation == operation }.map(\.status)
            return Set(statuses + Self.shown).sorted().map { status in
                let count = answered[Answered(operation: operation, status: status)] ?? 0
                return ([operation.rawValue, "\(status)"], count)
            }
        }
    }
}
