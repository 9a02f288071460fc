import TomboloCore
import TomboloJSON

/// Reads the log for what persons did on phones since the producer came, each action once.
struct ActionReader: Sendable {
    private var seen: Set<String> = []
    /// When the newest of them came to the relay: the next look begins there.
    private var from = SystemClock().now().rfc3339

    mutating func new(_ client: RelayClient) async throws -> [JSONView] {
        let path = "/v1/log?kind=fact&fact=action&limit=1000&from=\(PathText.escaped(from))"
        let page = try await client.send(RelayRequest("GET", path), name: nil)
        var new: [JSONView] = []
        for entry in try page.document().root["events"]?.elements.map({ $0 }) ?? [] {
            from = entry["at"]?.string ?? from
            guard let action = entry["action"]?.string, seen.insert(action).inserted else {
                continue
            }
            new.append(entry)
        }
        return new
    }
}
