import CProtocolAssets
import TomboloCore
import TomboloJSON

/// A scenario from `Protocol/examples/NAME/steps.json`: actions of a producer and of the phones'
/// users, and what cards or widgets show after each step.
struct Scenario: Sendable {
    /// One step: its requests and the expected result.
    struct Step: Sendable {
        var name: String
        var requests: [Request]
        /// How long the step lasts. Without it a step ends when the phones show the expected state.
        var lasts: Span?
        /// The state that cards or widgets should show at the step's end; nil means not checked.
        var shows: JSON?
        /// The step as the file has it, with all else that should hold at its end.
        var view: JSONView

        init?(_ view: JSONView) {
            guard let name = view["step"]?.string, let requests = Request.all(view["do"]) else {
                return nil
            }
            (self.name, self.requests, self.view) = (name, requests, view)
            lasts = view["for"]?.string.flatMap { Span(text: $0) }
            shows = view["shows"]?.json
        }
    }

    /// A widget that is added to a phone before the first step and removed after the last one.
    struct Place: Hashable, Sendable {
        /// The name by which steps refer to the widget. By default it is the phone's name.
        var name: String
        var phone: String
        var family: String
        /// The widget's configuration id; nil if it has none.
        var config: String?
    }

    /// One request of a step. In path and body, `{activity}`, `{phone}` and `{app}` are replaced;
    /// in one of widgets `{kind}`, `{clock}`, `{now}` and `{now+2s}`. In the answer to a tap, `"{angle}"` or
    /// `{door}`, the widget's configuration id as the relay reports it, is replaced too.
    struct Request: Sendable {
        var method: String
        var path: String
        var body: JSON

        init?(_ view: JSONView) {
            guard let method = view["method"]?.string, let path = view["path"]?.string,
                let body = view["body"]?.json
            else { return nil }
            (self.method, self.path, self.body) = (method, path, body)
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
    let types: [(name: String, body: JSON)]
    /// The types of the cards; empty if all phones show one activity. If the phones suffice, each
    /// phone gets one type in turn. Else a `lab` phone gets all types, and others get the first.
    let apps: [String]
    /// By the card's type or the button's intent, the request that the producer sends after a tap.
    private(set) var answers: [String: Request] = [:]
    /// Requests before the widgets are added, and requests after the last step, which are also sent
    /// after a failure.
    let before: [Request]
    /// What the producer sends first if the scenario stays; empty if its first step says it.
    let stays: [Request]
    /// By the button's intent, what the producer sends some time after its answer, while the
    /// scenario stays.
    private(set) var later: [String: (after: Span, request: Request)] = [:]
    /// Two sentences: what one sees, and what to press.
    let wall: [String]
    let after: [Request]
    /// The widgets; empty if the scenario is about cards.
    private(set) var places: [Place] = []
    private(set) var steps: [Step] = []

    static let ofCards = ["radial", "runner", "window"]
    static let ofWidgets = ["profile", "door"]

    /// The compiled-in scenario with this name; nil if there is none.
    init?(named name: String) {
        let asset: tombolo_protocol_asset
        switch name {
        case "radial": asset = tombolo_protocol_radial()
        case "runner": asset = tombolo_protocol_runner()
        case "window": asset = tombolo_protocol_window()
        case "profile": asset = tombolo_protocol_profile()
        case "door": asset = tombolo_protocol_door()
        default: return nil
        }
        let bytes = Array(UnsafeBufferPointer(start: asset.bytes, count: asset.count))
        guard let view = Self.withPictures(bytes) else { return nil }
        self.name = name
        types = view["types"]?.members.map { ($0, $1.json) } ?? []
        apps = view.texts("apps")
        before = Request.all(view["before"]) ?? []
        after = Request.all(view["after"]) ?? []
        stays = Request.all(view["stay"]) ?? []
        wall = view.texts("wall")
        for (intent, one) in view["later"]?.members.map({ $0 }) ?? [] {
            guard let request = Request(one),
                let after = one["after"]?.string.flatMap({ Span(text: $0) })
            else { return nil }
            later[intent] = (after, request)
        }
        for (cause, request) in view["answers"]?.members.map({ $0 }) ?? [] {
            guard let request = Request(request) else { return nil }
            answers[cause] = request
        }
        for place in view.items("widgets") {
            guard let phone = place["phone"]?.string, let family = place["family"]?.string else {
                return nil
            }
            places.append(
                Place(
                    name: place["name"]?.string ?? phone, phone: phone, family: family,
                    config: place["config"]?.string))
        }
        steps = view.items("steps").compactMap(Step.init)
        guard !steps.isEmpty, steps.count == view["steps"]?.count else { return nil }
    }

    /// Parses the file after replacing each `{picture:NAME}` by the member NAME of `pictures`.
    private static func withPictures(_ bytes: [UInt8]) -> JSONView? {
        var text = String(decoding: bytes, as: UTF8.self)
        // This cannot fail: a test reads every compiled-in file.
        guard let view = try? JSONDocument(bytes).root else { return nil }
        for (name, picture) in view["pictures"]?.members.map({ $0 }) ?? [] {
            text = text.replacing("{picture:\(name)}", with: picture.string ?? "")
        }
        // This cannot fail, for the same reason.
        return try? JSONDocument(Array(text.utf8)).root
    }

    /// The requests that create the cards or the widgets' timelines of a scenario that stays.
    var beginning: [Request] {
        if !stays.isEmpty { return stays }
        return steps.first { $0.requests.contains { $0.method == "PUT" } }?.requests ?? []
    }
}
