import TomboloCore

/// Requests that wait until the core's batch has room, in their order.
struct HeldRequests {
    private var inputs: [Input] = []
    private var gone = 0

    var isEmpty: Bool { gone == inputs.count }
    var count: Int { inputs.count - gone }

    mutating func append(_ input: Input) { inputs.append(input) }

    mutating func popFirst() -> Input? {
        guard !isEmpty else { return nil }
        defer {
            gone += 1
            if isEmpty { (inputs, gone) = ([], 0) }
        }
        return inputs[gone]
    }
}
