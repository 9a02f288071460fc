import CProtocolAssets
import TomboloCore
import TomboloJSON

/// A widget scenario from `Protocol/examples/NAME/steps.json`: actions of a producer and of the
/// phones' users, and what the widgets show after each step.
struct WidgetScenario: Sendable {
    /// A widget that is added to a phone before the first step and removed after the last one.
    struct Place: Hashable, Sendable {
        /// The name by which steps refer to the widget. By default it is the phone's name.
        var name: String
        var phone: String
        var family: String
        /// The widget's configuration id; nil if it has none.
        var config: String?
    }

    /// One step: its requests and the expected result.
    struct Step: Sendable {
        var name: String
        /// The requests. `{kind}`, `{now}` and `{now+2s}` in path and body are replaced.
        var requests: [Scenario.Request]
        /// The minimum duration of the step.
        var lasts: Span?
        /// The state that the widgets should show at the step's end; nil means not checked.
        var shows: JSON?
        /// The names of the widgets to check; empty means all.
        var widgets: [String]
        /// Widgets that should have fetched and got nothing to show.
        var empty: [String]
        /// Phones whose widgets should change by themselves, each at a different time.
        var differing: [String]
        /// Widgets that should not have fetched yet, and show the placeholder.
        var unfetched: [String]
        /// True if no widget may fetch during the step.
        var isWithoutFetch: Bool
        /// The cards that phones should show at the step's end.
        var cards: Cards?
        /// The controls that should be reloaded during the step.
        var controls: Controls?
        /// What the gallery of a phone should show for some families.
        var gallery: Gallery?
        /// The expected newest tap on a phone, which was not sent.
        var tap: Tap?
    }

    /// A tap that is not sent, with the reason.
    struct Tap: Sendable {
        var phone: String
        var reason: String
    }

    /// The expected card of an activity on phones.
    struct Cards: Sendable {
        var activity: String
        var phones: [String]
        var shows: JSON
    }

    /// One kind of control on phones.
    struct Controls: Sendable {
        var kind: String
        var phones: [String]
    }

    /// The expected gallery of a phone: the state for each family.
    struct Gallery: Sendable {
        var phone: String
        var shows: [(family: String, state: JSON)]
    }

    let name: String
    /// The types that the producer registers first: name and body of each.
    private(set) var types: [(name: String, body: JSON)] = []
    /// By intent, the request that the producer sends after a button has run the intent. `{door}`
    /// is replaced by the widget's configuration id, as the relay reports it.
    private(set) var answers: [String: Scenario.Request] = [:]
    /// Requests before the widgets are added, and requests after the last step, which are also sent
    /// after a failure.
    private(set) var before: [Scenario.Request] = []
    private(set) var after: [Scenario.Request] = []
    private(set) var places: [Place] = []
    private(set) var steps: [Step] = []

    /// The names of all widget scenarios.
    static let names = ["profile", "door"]

    /// The compiled-in scenario with this name; nil if there is none.
    init?(named name: String) {
        let asset: tombolo_protocol_asset
        switch name {
        case "profile": asset = tombolo_protocol_profile()
        case "door": asset = tombolo_protocol_door()
        default: return nil
        }
        let bytes = Array(UnsafeBufferPointer(start: asset.bytes, count: asset.count))
        guard let view = Self.withPictures(bytes) else { return nil }
        self.name = name
        for place in view["widgets"]?.elements.map({ $0 }) ?? [] {
            guard let phone = place["phone"]?.string, let family = place["family"]?.string else {
                return nil
            }
            places.append(
                Place(
                    name: place["name"]?.string ?? phone, phone: phone, family: family,
                    config: place["config"]?.string))
        }
        types = view["types"]?.members.map { ($0, $1.json) } ?? []
        for (intent, request) in view["answers"]?.members.map({ ($0, $1) }) ?? [] {
            guard let request = Scenario.Request(request) else { return nil }
            answers[intent] = request
        }
        before = Scenario.Request.all(view["before"]) ?? []
        after = Scenario.Request.all(view["after"]) ?? []
        for entry in view["steps"]?.elements.map({ $0 }) ?? [] {
            guard let step = Step(entry) else { return nil }
            steps.append(step)
        }
        guard !places.isEmpty, !steps.isEmpty else { return nil }
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
}

extension WidgetScenario.Step {
    fileprivate init?(_ view: JSONView) {
        guard let name = view["step"]?.string,
            let requests = Scenario.Request.all(view["do"])
        else { return nil }
        (self.name, self.requests) = (name, requests)
        lasts = view["for"]?.string.flatMap { Span(text: $0) }
        shows = view["shows"]?.json
        func names(_ list: JSONView?) -> [String] { list?.elements.compactMap(\.string) ?? [] }
        widgets = names(view["of"])
        empty = names(view["nothing"])
        differing = names(view["next_entries_differ"])
        unfetched = names(view["placeholder"])
        isWithoutFetch = view["no_fetch"]?.bool ?? false
        if let cards = view["cards"], let activity = cards["activity"]?.string,
            let shows = cards["shows"]?.json
        {
            self.cards = WidgetScenario.Cards(
                activity: activity, phones: names(cards["on"]), shows: shows)
        }
        if let controls = view["controls"], let kind = controls["kind"]?.string {
            self.controls = WidgetScenario.Controls(kind: kind, phones: names(controls["on"]))
        }
        if let tap = view["tap"], let phone = tap["on"]?.string,
            let reason = tap["reason"]?.string
        {
            self.tap = WidgetScenario.Tap(phone: phone, reason: reason)
        }
        if let gallery = view["gallery"], let phone = gallery["on"]?.string {
            self.gallery = WidgetScenario.Gallery(
                phone: phone, shows: gallery["shows"]?.members.map { ($0, $1.json) } ?? [])
        }
    }
}
