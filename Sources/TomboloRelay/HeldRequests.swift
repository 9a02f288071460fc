import TomboloCore

/// Requests that wait, in order, until the core's batch has space.
struct HeldRequests {
    /// Maximum number and bytes of waiting requests; the pending batch has the same limits. Above
    /// it, requests are refused, because the log is too slow.
    static let (countMax, bytesMax) = (10_000, 32 << 20)

    private var inputs: [Input] = []
    private var gone = 0
    private var bytes = 0

    var isEmpty: Bool { gone == inputs.count }
    var count: Int { inputs.count - gone }

    /// Adds an input. If no more may wait, returns the input's ticket, so that it can be refused.
    mutating func append(_ input: Input) -> Ticket? {
        if count >= Self.countMax || bytes >= Self.bytesMax, let ticket = input.ticket {
            return ticket
        }
        inputs.append(input)
        bytes += input.bodyBytes
        return nil
    }

    mutating func popFirst() -> Input? {
        guard !isEmpty else { return nil }
        let input = inputs[gone]
        gone += 1
        bytes -= input.bodyBytes
        if isEmpty { (inputs, gone) = ([], 0) }
        return input
    }
}
