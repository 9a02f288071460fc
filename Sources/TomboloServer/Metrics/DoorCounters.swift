import TomboloAPI

/// What went through the doors since the process began.
struct DoorCounters: Sendable {
    private(set) var requests: [Operation: Int64] = [:]
    private(set) var problems: [ProblemCode: Int64] = [:]

    mutating func count(_ operation: Operation) { requests[operation, default: 0] += 1 }
    mutating func count(_ problem: ProblemCode) { problems[problem, default: 0] += 1 }
}
