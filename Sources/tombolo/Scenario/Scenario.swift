import CProtocolAssets
import TomboloCore
import TomboloJSON

/// A scenario as `Protocol/examples/NAME/steps.json` has it: what a producer and the users of the
/// phones do, and what every phone draws after each step.
struct Scenario: Sendable {
    /// One thing that is done and what comes of it.
    struct Step: Sendable {
        var name: String
        var requests: [Request]
        /// How long the step lasts; nil: until the phones show what they should.
        var lasts: Span?
        /// Where the app is on every phone, by the relay's word; nil: not looked at.
        var presenceState: String?
        /// The content state that every phone draws at its end; nil: not looked at.
        var shows: JSON?
        /// Which of the scenario's cards that is, by the end of its id.
        var card: String
    }

    /// One request of a step. `{activity}`, `{phone}` and `{app}` in its path and body are filled
    /// in, and so is `"{angle}"` in an answer to a tap.
    struct Request: Sendable {
        var method: String
        var path: String
        var body: JSON

        init?(_ view: JSONView) {
            guard let method = view["method"]?.string, let path = view["path"]?.string,
                let body = view["body"]?.json
            else { return nil }
            self.method = method
            self.path = path
            self.body = body
        }

        /// Those of a list; nil where it is none, or one of them cannot be read.
        static func all(_ list: JSONView?) -> [Request]? {
            guard let list, list.kind == .array else { return nil }
            let requests = list.elements.compactMap { Request($0) }
            return requests.count == list.count ? requests : nil
        }

        /// Once for each phone.
        var isForPhones: Bool { path.contains("{phone}") }
    }

    let name: String
    /// Types that the producer registers before: the body of each, by name.
    private(set) var types: [(name: String, body: JSON)] = []
    /// Where each phone has an activity of its own: their types, in turn.
    private(set) var apps: [String] = []
    /// What the producer does when a card is tapped, by its type.
    private(set) var answers: [String: Request] = [:]
    private(set) var steps: [Step] = []

    /// Every scenario that has steps.
    static let names = ["radial", "runner", "window"]

    /// The scenario of a name that is compiled in; nil for another name.
    init?(named name: String) {
        let asset: tombolo_protocol_asset
        switch name {
        case "radial": asset = tombolo_protocol_radial()
        case "runner": asset = tombolo_protocol_runner()
        case "window": asset = tombolo_protocol_window()
        default: return nil
        }
        let bytes = Array(UnsafeBufferPointer(start: asset.bytes, count: asset.count))
        // A test reads every file that is compiled in.
        guard let view = try? JSONDocument(bytes).root else { return nil }
        self.init(name: name, view)
    }

    /// Nil where it cannot be read.
    init?(name: String, _ view: JSONView) {
        self.name = name
        types = view["types"]?.members.map { ($0, $1.json) } ?? []
        apps = view["apps"]?.elements.compactMap(\.string) ?? []
        for (type, request) in view["answers"]?.members.map({ ($0, $1) }) ?? [] {
            guard let request = Request(request) else { return nil }
            answers[type] = request
        }
        for entry in view["steps"]?.elements.map({ $0 }) ?? [] {
            guard let step = Step(entry) else { return nil }
            steps.append(step)
        }
        guard !steps.isEmpty else { return nil }
    }

    /// Registers its types with a relay, as its producer does before anything else.
    func registerTypes(_ client: RelayClient) async throws {
        for type in types {
            _ = try await client.send(
                RelayRequest("PUT", "/v1/types/\(type.name)", body: type.body.bytes),
                name: type.name)
        }
    }

    /// What puts its cards there: the requests of the first step that starts an activity.
    var beginning: [Request] {
        steps.first { $0.requests.contains { $0.method == "PUT" } }?.requests ?? []
    }
}

extension Scenario.Step {
    fileprivate init?(_ view: JSONView) {
        guard let name = view["step"]?.string,
            let requests = Scenario.Request.all(view["do"])
        else { return nil }
        (self.name, self.requests) = (name, requests)
        lasts = view["for"]?.string.flatMap { Span(text: $0) }
        presenceState = view["presence_state"]?.string
        shows = view["shows"]?.json
        card = view["card"]?.string ?? ""
    }
}
