import CProtocolAssets
import TomboloCore
import TomboloJSON

/// A scenario of widgets as `Protocol/examples/NAME/steps.json` has it: what a producer and the
/// users of the phones do, and what the widgets show after each step.
struct WidgetScenario: Sendable {
    /// A widget that is put on a phone before the first step, and taken off after the last one.
    struct Place: Hashable, Sendable {
        /// What steps call it; the phone's name unless the scenario says otherwise.
        var name: String
        var phone: String
        var family: String
        /// What it is configured to; nil: nothing.
        var config: String?
    }

    /// One thing that is done and what comes of it.
    struct Step: Sendable {
        var name: String
        /// `{kind}`, `{now}` and `{now+2s}` in path and body are filled in.
        var requests: [Scenario.Request]
        /// How long the step lasts at least.
        var lasts: Span?
        /// What they show at its end; nil: not looked at.
        var shows: JSON?
        /// Which widgets; empty: all.
        var widgets: [String]
        /// Widgets that have fetched, and have nothing to show.
        var empty: [String]
        /// Phones whose widgets change by themselves, each at another time.
        var differing: [String]
        /// Widgets that have not fetched yet, and show the placeholder.
        var unfetched: [String]
        /// Nobody fetches during the step.
        var isWithoutFetch: Bool
        /// What cards on phones show at its end.
        var cards: Cards?
        /// Controls that are reloaded during the step.
        var controls: Controls?
        /// What the gallery of a phone shows of some families.
        var gallery: Gallery?
        /// What became of the newest tap on a phone, which is not sent.
        var tap: Tap?
    }

    /// A tap that is not sent, and why.
    struct Tap: Sendable {
        var phone: String
        var reason: String
    }

    /// The card of an activity on phones.
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

    /// The gallery of one phone: what it shows of a family, by the family's name.
    struct Gallery: Sendable {
        var phone: String
        var shows: [(family: String, state: JSON)]
    }

    let name: String
    /// Types that the producer registers before: the body of each, by name.
    private(set) var types: [(name: String, body: JSON)] = []
    /// What the producer does when a widget's button runs an intent, by the intent; `{door}` is
    /// what the widget is configured to, by the relay's word.
    private(set) var answers: [String: Scenario.Request] = [:]
    /// What is done before the widgets are placed, and after the last step, also where one fails.
    private(set) var before: [Scenario.Request] = []
    private(set) var after: [Scenario.Request] = []
    private(set) var places: [Place] = []
    private(set) var steps: [Step] = []

    /// Every scenario of widgets.
    static let names = ["profile", "door"]

    /// The scenario of a name that is compiled in; nil for another name.
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

    /// The file with each `{picture:NAME}` as `pictures` has it: a PNG in base64 is there once.
    private static func withPictures(_ bytes: [UInt8]) -> JSONView? {
        var text = String(decoding: bytes, as: UTF8.self)
        // A test reads every file that is compiled in.
        guard let view = try? JSONDocument(bytes).root else { return nil }
        for (name, picture) in view["pictures"]?.members.map({ $0 }) ?? [] {
            text = text.replacing("{picture:\(name)}", with: picture.string ?? "")
        }
        // As above.
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
