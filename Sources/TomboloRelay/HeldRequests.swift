import TomboloCore

/// Requests that wait until the core's batch has room, in their order.
struct HeldRequests {
    /// As many as a batch may have, and as many bytes: beyond, the log is behind.
    static let (countMax, bytesMax) = (10_000, 32 << 20)

    private var inputs: [Input] = []
    private var gone = 0
    private var bytes = 0

    var isEmpty: Bool { gone == inputs.count }
    var count: Int { inputs.count - gone }

    /// Answers the ticket that is to be refused, where no more may wait.
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
