import TomboloCore
import TomboloJSON
import TomboloLoop

/// Plays a scenario of widgets on the simulated phones.
struct WidgetPlayer: ScenarioPlayer {
    var stage: ScenarioStage
    let places: [Scenario.Place]
    /// For each widget, its present state, and all its states in order.
    private(set) var newest: [String: JSON] = [:]
    private var sequences: [String: [JSON]] = [:]
    /// For each widget and each phone, its newest page, and its page before the step.
    private(set) var pages: [String: JSON] = [:]
    private(set) var phones: [String: JSON] = [:]
    private(set) var pagesBefore: [String: JSON] = [:]
    private(set) var phonesBefore: [String: JSON] = [:]
    /// For each door, what follows its last action, and when.
    private var later: [String: (at: MonotonicInstant, request: Scenario.Request)] = [:]

    /// There is an iPad besides the stage's phones.
    init(_ stage: ScenarioStage) {
        self.stage = stage
        let names = Set(stage.phones + ["pad-1"])
        places = stage.scenario.places.filter { names.contains($0.phone) }
    }

    mutating func begin() async throws {
        for phone in Set(places.map(\.phone)).sorted() {
            try await stage.meet(phone, hasWidgets: true)
        }
        try await stage.registerTypes()
    }

    /// Adds the widgets.
    func enter() async throws { for place in places { try await act(place, "widget-add") } }

    /// Removes the widgets.
    func partings(isOfStay: Bool) -> [ScenarioStage.Deed] {
        var deeds: [ScenarioStage.Deed] = []
        for request in stage.scenario.after
        where !isOfStay || !request.path.hasPrefix(Self.phone) {
            deeds.append { try await send(request) }
        }
        for place in places { deeds.append { try await act(place, "widget-rm") } }
        return deeds
    }

    mutating func prepare() async throws {
        try await readPhones()
        (pagesBefore, phonesBefore) = (pages, phones)
    }

    // MARK: Requests

    private static let phone = "/v1/phones/"

    private func act(_ place: Scenario.Place, _ deed: String) async throws {
        let body = JSON.object { writer in
            writer.member("do", deed)
            writer.member("widget", stage.id)
            writer.member("family", place.family)
            if let config = place.config { writer.member("config", filled(config)) }
        }
        let path = Self.phone + PathText.escaped(place.phone)
        try await stage.perform("POST", path, body.description, name: place.phone)
    }

    func send(_ request: Scenario.Request) async throws {
        let named = request.path.split(separator: "/").last.map(String.init) ?? ""
        // A request for a phone that does not exist is left out.
        guard
            !request.path.hasPrefix(Self.phone) || places.contains(where: { $0.phone == named })
        else { return }
        try await post(request)
    }

    private func post(_ request: Scenario.Request, about door: String = "") async throws {
        let body = filled(String(decoding: request.body.bytes, as: UTF8.self))
        let path = filled(request.path).replacing("{door}", with: PathText.escaped(door))
        try await stage.perform(request.method, path, body, name: stage.id)
    }

    /// Answers a button action. An expired action does not open a door.
    mutating func respond(to action: JSONView) async throws {
        // The button is on a widget, or on the card of a door.
        let door =
            action["widget"]?.string == stage.id
            ? action["config"]?.string
            : action["activity"]?.string.flatMap { $0.hasPrefix(stage.id + ".") ? $0 : nil }
        guard let door, let intent = action["intent"]?.string,
            let answer = stage.scenario.answers[intent],
            let expires = action["expires_at"]?.string.flatMap(Instant.init(rfc3339:)),
            SystemClock().now() < expires
        else { return }
        try await ScenarioStage.passOver { try await post(answer, about: door) }
        later[door] = stage.scenario.later[intent].map { next in
            (stage.loop.now + .nanoseconds(next.after.nanoseconds), next.request)
        }
    }

    mutating func goOn() async throws {
        for (door, next) in later where next.at <= stage.loop.now {
            later[door] = nil
            try await ScenarioStage.passOver { try await post(next.request, about: door) }
        }
    }

    func filled(_ text: String) -> String {
        var text = text.replacing("{kind}", with: stage.id)
        let now = SystemClock().now()
        text = text.replacing("{now}", with: now.rfc3339)
            .replacing("{clock}", with: stage.isStaying ? now.rfc3339 : "07:05")
        while let start = text.firstRange(of: "{now+"),
            let end = text[start.upperBound...].firstIndex(of: "}"),
            let span = Span(text: String(text[start.upperBound..<end]))
        {
            text.replaceSubrange(start.lowerBound...end, with: (now + span).rfc3339)
        }
        return text
    }

    // MARK: Results

    mutating func conclusion() async throws -> ScenarioSummary {
        var summary = ScenarioSummary(scenario: stage.scenario.name)
        summary.widgets = places.map { place in
            WidgetSummary(
                place: place, fetches: fetches(pages, place.name),
                drawn: sequences[place.name] ?? [])
        }
        return summary
    }

    mutating func readPhones() async throws {
        for page in try await stage.client.view("/v1/phones", name: nil).items("phones") {
            // Ignore phones without a widget of this run.
            guard let name = page["phone"]?.string, places.contains(where: { $0.phone == name })
            else { continue }
            phones[name] = page.json
            let widgets = page["widgets"]?.elements.filter { $0["kind"]?.string == stage.id } ?? []
            for place in places where place.phone == name {
                let config = place.config.map(filled)
                let found = widgets.first {
                    $0["family"]?.string == place.family && $0["config"]?.string == config
                }
                guard let widget = found else { continue }
                pages[place.name] = widget.json
                guard widget["placeholder"]?.bool == false, let state = widget["state"]?.json,
                    state.document.root.count > 0
                else {
                    newest[place.name] = nil
                    continue
                }
                if newest.updateValue(state, forKey: place.name) != state {
                    sequences[place.name, default: []].append(state)
                }
            }
        }
    }

    func holds(_ step: Scenario.Step) -> Bool {
        let named = step.view.texts("of")
        let names = places.map(\.name).filter { named.isEmpty || named.contains($0) }
        // Some widgets have fetched and got nothing to show.
        for name in step.view.texts("nothing") where places.contains(where: { $0.name == name }) {
            guard newest[name] == nil, fetches(pages, name) > 0 else { return false }
        }
        if let shows = step.shows {
            for name in names {
                guard newest[name]?.document.root.isSame(as: shows.document.root) == true else {
                    return false
                }
            }
        }
        guard holdsBesides(step) else { return false }
        // The widgets of some phones change by themselves, each at a different time.
        let differing = step.view.texts("next_entries_differ").filter { name in
            places.contains { $0.name == name }
        }
        let dates = differing.compactMap {
            pages[$0]?.document.root["next_entry_at"]?.string
        }
        return dates.count == differing.count && Set(dates).count == differing.count
    }
}
