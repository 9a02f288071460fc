import CProtocolAssets
import TomboloCore
import TomboloJSON

/// A scenario from `Protocol/examples/NAME/steps.json`: actions of a producer and of the phones'
/// users, and what every phone draws after each step.
struct Scenario: Sendable {
    /// One step: its requests and the expected result.
    struct Step: Sendable {
        var name: String
        var requests: [Request]
        /// How long the step lasts; nil means until the phones show the expected state.
        var lasts: Span?
        /// The app's expected presence on every phone, as the relay knows it; nil: not checked.
        var presenceState: String?
        /// The content state that every phone should draw at the step's end; nil means not checked.
        var shows: JSON?
        /// The suffix of the checked card's activity id, such as `-2`; empty if it has none.
        var card: String
    }

    /// One request of a step. In path and body, `{activity}`, `{phone}` and `{app}` are replaced.
    /// In the answer to a tap, `"{angle}"` is replaced too.
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

        /// Reads a list of requests; nil if it is not a list or a request in it is not valid.
        static func all(_ list: JSONView?) -> [Request]? {
            guard let list, list.kind == .array else { return nil }
            let requests = list.elements.compactMap { Request($0) }
            return requests.count == list.count ? requests : nil
        }

        /// True if the request is sent once for each phone.
        var isForPhones: Bool { path.contains("{phone}") }
    }

    let name: String
    /// The types that the producer registers first: name and body of each.
    private(set) var types: [(name: String, body: JSON)] = []
    /// The types of the cards; empty if all phones show one activity. If the phones suffice, each
    /// phone gets one type in turn. Else a `lab` phone gets all types, and others get the first.
    private(set) var apps: [String] = []
    /// By the card's type, the request that the producer sends after a tap on the card.
    private(set) var answers: [String: Request] = [:]
    private(set) var steps: [Step] = []

    /// The names of the scenarios that this type reads. `WidgetScenario` reads the others.
    static let names = ["radial", "runner", "window"]

    /// The compiled-in scenario with this name; nil if there is none.
    init?(named name: String) {
        let asset: tombolo_protocol_asset
        switch name {
        case "radial": asset = tombolo_protocol_radial()
        case "runner": asset = tombolo_protocol_runner()
        case "window": asset = tombolo_protocol_window()
        default: return nil
        }
        let bytes = Array(UnsafeBufferPointer(start: asset.bytes, count: asset.count))
        // This cannot fail: a test reads every compiled-in file.
        guard let view = try? JSONDocument(bytes).root else { return nil }
        self.init(name: name, view)
    }

    /// Nil if the JSON is not a valid scenario.
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

    /// Registers the scenario's types with a relay, which the producer does first.
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
