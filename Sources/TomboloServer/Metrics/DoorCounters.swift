import TomboloAPI

/// Counts of requests and events since the process began.
struct DoorCounters: Sendable {
    private struct Answered: Hashable {
        let operation: Operation
        let status: Int
    }

    private var answered: [Answered: Int64] = [:]
    private(set) var problems: [ProblemCode: Int64] = [:]

    /// Number of stored events for each key id.
    private var events: [String: Int64] = [:]
    private var eventsOfOthers: Int64 = 0

    /// Maximum number of a tenant's keys that are counted one by one; other keys share one count.
    private static let keysMax = 1_000
    /// Number of keys with a series of their own in the metrics: those that stored the most events.
    static let keysShown = 10

    mutating func countEvents(_ count: Int, by key: String) {
        if events.count < Self.keysMax || events[key] != nil {
            events[key, default: 0] += Int64(count)
        } else {
            eventsOfOthers += Int64(count)
        }
    }

    /// Events of the keys that stored the most; `other` counts the events of all other keys.
    var eventsByKey: [([String], Int64)] {
        let most = events.sorted { ($1.value, $0.key) < ($0.value, $1.key) }
        let rest = most.dropFirst(Self.keysShown).reduce(eventsOfOthers) { $0 + $1.value }
        return most.prefix(Self.keysShown).map { ([$0.key], $0.value) } + [(["other"], rest)]
    }

    /// Each operation has series for these statuses from the start, so that a failure rate can be
    /// computed before the first failure.
    private static let shown = [200, 500]

    mutating func count(_ operation: Operation, status: Int) {
        answered[Answered(operation: operation, status: status), default: 0] += 1
    }

    mutating func count(_ problem: ProblemCode) { problems[problem, default: 0] += 1 }

    /// Counts by operation and status.
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
