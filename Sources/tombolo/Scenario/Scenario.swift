import CProtocolAssets
import TomboloCore
import TomboloJSON

/// A scenario as `Protocol/examples/NAME/steps.json` tells it: what a producer and the phones do,
/// and what every phone holds after each step.
struct Scenario: Sendable {
    /// One thing that is done and what comes of it.
    struct Step: Sendable {
        var name: String
        var requests: [Request]
        /// How long the step lasts; nil: until the phones show what they should.
        var lasts: Span?
        /// Where the app stands on every phone, by the relay's word; nil: not looked at.
        var presenceState: String?
        /// The content state of every phone at its end; nil: not looked at.
        var shows: JSON?
    }

    /// One request of a step; `{activity}` and `{phone}` in its path are filled in.
    struct Request: Sendable {
        var method: String
        var path: String
        var body: JSON

        /// Once for each phone.
        var isForPhones: Bool { path.contains("{phone}") }
    }

    let name: String
    let steps: [Step]

    /// Every scenario that is told by steps.
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

    /// Nil where the steps cannot be read.
    init?(name: String, _ view: JSONView) {
        self.name = name
        var steps: [Step] = []
        for entry in view.elements {
            guard let step = Step(entry) else { return nil }
            steps.append(step)
        }
        guard !steps.isEmpty else { return nil }
        self.steps = steps
    }
}

extension Scenario.Step {
    fileprivate init?(_ view: JSONView) {
        guard let name = view["step"]?.string, let requests = view["do"] else { return nil }
        self.name = name
        self.requests = []
        for request in requests.elements {
            guard let method = request["method"]?.string, let path = request["path"]?.string,
                let body = request["body"]?.json
            else { return nil }
            self.requests.append(Scenario.Request(method: method, path: path, body: body))
        }
        lasts = view["for"]?.string.flatMap { Span(text: $0) }
        presenceState = view["presence_state"]?.string
        shows = view["shows"]?.json
    }
}
