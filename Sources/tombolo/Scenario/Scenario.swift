import CProtocolAssets
import TomboloCore
import TomboloJSON

/// A scenario from `Protocol/examples/NAME/steps.json`: what a producer and the phones' users do,
/// and what every phone draws after each step.
struct Scenario: Sendable {
    /// One step: its requests and the expected result.
    struct Step: Sendable {
        var name: String
        var requests: [Request]
        /// How long the step lasts; nil: until the phones show the expected state.
        var lasts: Span?
        /// The expected presence of the app on every phone, by the relay; nil: not checked.
        var presenceState: String?
        /// The content state that every phone should draw at the step's end; nil: not checked.
        var shows: JSON?
        /// The end of the expected card's activity id.
        var card: String
    }

    /// One request of a step. `{activity}`, `{phone}` and `{app}` in path and body are replaced,
    /// and `"{angle}"` in an answer to a tap.
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

        /// The requests of a list; nil if it is no list or one request cannot be read.
        static func all(_ list: JSONView?) -> [Request]? {
            guard let list, list.kind == .array else { return nil }
            let requests = list.elements.compactMap { Request($0) }
            return requests.count == list.count ? requests : nil
        }

        /// True if the request is sent once for each phone.
        var isForPhones: Bool { path.contains("{phone}") }
    }

    let name: String
    /// The types that the producer registers first: the body of each, by name.
    private(set) var types: [(name: String, body: JSON)] = []
    /// If each phone has an activity of its own: the types of these activities, in turn.
    private(set) var apps: [String] = []
    /// The producer's request after a tap on a card, by the card's type.
    private(set) var answers: [String: Request] = [:]
    private(set) var steps: [Step] = []

    /// Every scenario that has steps.
    static let names = ["radial", "runner", "window"]

    /// The compiled-in scenario of that name; nil for another name.
    init?(named name: String) {
        let asset: tombolo_protocol_asset
        switch name {
        case "radial": asset = tombolo_protocol_radial()
        case "runner": asset = tombolo_protocol_runner()
        case "window": asset = tombolo_protocol_window()
        default: return nil
        }
        let bytes = Array(UnsafeBufferPointer(start: asset.bytes, count: asset.count))
        // A test reads every compiled-in file, so this does not fail.
        guard let view = try? JSONDocument(bytes).root else { return nil }
        self.init(name: name, view)
    }

    /// Nil if the JSON is no scenario.
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

    /// Registers the scenario's types with a relay; its producer does this first.
    func registerTypes(_ client: RelayClient) async throws {
        for type in types {
            _ = try await client.send(
                RelayRequest("PUT", "/v1/types/\(type.name)", body: type.body.bytes),
                name: type.name)
        }
    }

    /// The requests that create the cards: those of the first step that starts an activity.
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
