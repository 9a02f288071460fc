import TomboloCore

/// One request of a producer, with all its attempts.
struct Request {
    var command: Command
    /// Distinguishes it from every other, and stands in its body.
    var number: Int64
    /// From the first acknowledgement.
    var seq: Int64?
    var wasRefused = false
    var isUnknown = false
}

/// All that producers asked for, and what they were told.
struct Ledger {
    private(set) var requests: [Request] = []

    mutating func add(_ command: Command, number: Int64) -> Int {
        requests.append(Request(command: command, number: number))
        return requests.count - 1
    }

    mutating func unknown(_ index: Int) { requests[index].isUnknown = true }

    mutating func refused(_ index: Int) { requests[index].wasRefused = true }

    /// The log was put back to an older state: what came after is gone from it.
    mutating func forget(after seq: Int64) {
        for index in requests.indices {
            if let known = requests[index].seq, known > seq {
                requests[index].seq = nil
                requests[index].wasRefused = false
            }
            requests[index].isUnknown = true
        }
    }

    /// Answers what is wrong with it.
    mutating func acknowledged(_ index: Int, seq: Int64) -> String? {
        if let known = requests[index].seq, known != seq {
            return "request \(requests[index].number) was told sequence \(known), then \(seq)"
        }
        requests[index].seq = seq
        return nil
    }
}
