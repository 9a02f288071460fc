import TomboloCore
import TomboloJSON

/// Reads users' actions on phones from the log. Returns each action since its creation once.
struct ActionReader: Sendable {
    private var seen: Set<String> = []
    /// The time of the newest action. The next query begins at this time.
    private var from = SystemClock().now().rfc3339

    mutating func new(_ client: RelayClient) async throws -> [JSONView] {
        let path = "/v1/log?kind=fact&fact=action&limit=1000&from=\(PathText.escaped(from))"
        var new: [JSONView] = []
        for entry in try await client.view(path, name: nil).items("events") {
            from = entry["at"]?.string ?? from
            guard let action = entry["action"]?.string, seen.insert(action).inserted else {
                continue
            }
            new.append(entry)
        }
        return new
    }
}
