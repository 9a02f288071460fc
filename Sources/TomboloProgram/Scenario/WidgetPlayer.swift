import TomboloCore
import TomboloCrypto
import TomboloJSON
import TomboloLoop

/// Plays a widget scenario on the simulated phones, step by step, and checks what they show.
struct WidgetPlayer: Sendable {
    private let scenario: Scenario
    private let client: RelayClient
    private let loop: EpollLoop
    /// The kind of this run's widgets. It is new, so that widgets of other runs do not matter.
    private let kind: String
    let places: [Scenario.Place]
    /// For each widget, its present state, and all its states in order.
    private(set) var newest: [String: JSON] = [:]
    private var sequences: [String: [JSON]] = [:]
    /// For each widget and each phone, its newest page, and its page before the step.
    private(set) var pages: [String: JSON] = [:]
    private(set) var phones: [String: JSON] = [:]
    private(set) var pagesBefore: [String: JSON] = [:]
    private(set) var phonesBefore: [String: JSON] = [:]
    private var actions = ActionReader()

    /// Interval between two reads of the phones: half of the shortest life of an entry.
    private static let lookInterval = Duration.milliseconds(50)

    /// - Parameter phones: number of phones. There is an iPad, too.
    init(_ scenario: Scenario, _ client: RelayClient, phones: Int, loop: EpollLoop) {
        (self.scenario, self.client, self.loop) = (scenario, client, loop)
        kind = "\(scenario.name)-\(Hex.encode(RandomBytes.make(4)))"
        let names = Set((1...phones).map { "phone-\($0)" } + ["pad-1"])
        places = scenario.places.filter { names.contains($0.phone) }
    }

    /// Stops at the first step after which the widgets do not show the expected state. Removes the
    /// widgets, even after a failure.
    mutating func run() async throws -> WidgetSummary {
        try await begin()
        for request in scenario.before { try await send(request) }
        let summary: WidgetSummary
        do {
            for place in places { try await act(place, "widget-add") }
            summary = try await playSteps()
        } catch {
            // If this fails too, report the first error.
            for request in scenario.after { try? await send(request) }
            // Here, too, report the first error.
            for place in places { try? await act(place, "widget-rm") }
            throw error
        }
        for request in scenario.after { try await send(request) }
        for place in places { try await act(place, "widget-rm") }
        return summary
    }

    /// Adds the widgets and answers their buttons until `isStopped`, but at most for 8 hours, the
    /// maximum life of a card. Then removes them.
    mutating func stay(until isStopped: () -> Bool) async throws {
        try await begin()
        for place in places { try await act(place, "widget-add") }
        for request in scenario.steps.first?.requests ?? [] { try await send(request) }
        let over = loop.now + StayingScenario.cardLife
        while !isStopped(), loop.now < over {
            try await answerActions()
            try await loop.sleep(for: Self.lookInterval)
        }
        for request in scenario.after where !request.path.hasPrefix("/v1/phones/") {
            try await StayingScenario.passOver { try await send(request) }
        }
        for place in places {
            try await StayingScenario.passOver { try await act(place, "widget-rm") }
        }
    }

    /// Waits for the phones, and registers the types, as a producer does first.
    private func begin() async throws {
        for phone in Set(places.map(\.phone)).sorted() { try await meet(phone) }
        try await scenario.registerTypes(client)
    }

    private mutating func playSteps() async throws -> WidgetSummary {
        var summary = WidgetSummary(scenario: scenario.name)
        for step in scenario.steps {
            try await look()
            (pagesBefore, phonesBefore) = (pages, phones)
            for request in step.requests { try await send(request) }
            let isHeld = try await isHeld(step)
            summary.steps.append(.init(name: step.name, shows: step.shows, isHeld: isHeld))
            if !isHeld { break }
        }
        for place in places {
            let fetches = pages[place.name]?.document.root["fetches"]?.integer ?? 0
            summary.widgets.append(
                .init(place: place, fetches: fetches, drawn: sequences[place.name] ?? []))
        }
        return summary
    }

    /// Waits until a phone has registered itself and its tokens, as earlier pushes could not reach
    /// it.
    private func meet(_ phone: String) async throws {
        let path = "/v1/devices/\(PathText.escaped(phone))"
        let hasToken: Bool? = try await loop.poll(
            every: RunnerScenario.pollInterval, within: ScenarioPlayer.arrivalTime
        ) {
            do throws(ProgramError) {
                let names = try await client.view(path, name: phone).items("tokens").map {
                    $0["name"]?.string
                }
                return names.contains("widget") ? true : nil
            } catch {
                guard error.status == .notFoundOrConflict else { throw error }
                return nil
            }
        }
        guard hasToken != true else { return }
        throw ProgramError(
            "\(phone) has no token for its widgets", remedy: "tombolo device show \(phone)")
    }

    private func act(_ place: Scenario.Place, _ deed: String) async throws {
        let body = JSON.object { writer in
            writer.member("do", deed)
            writer.member("widget", kind)
            writer.member("family", place.family)
            if let config = place.config { writer.member("config", filled(config)) }
        }.bytes
        let path = "/v1/phones/\(PathText.escaped(place.phone))"
        _ = try await client.send(RelayRequest("POST", path, body: body), name: place.phone)
    }

    private func send(_ request: Scenario.Request) async throws {
        let named = request.path.split(separator: "/").last.map(String.init) ?? ""
        // A request for a phone that does not exist is left out.
        guard
            !request.path.hasPrefix("/v1/phones/") || places.contains(where: { $0.phone == named })
        else { return }
        try await post(request)
    }

    private func post(_ request: Scenario.Request, about door: String = "") async throws {
        let body = filled(String(decoding: request.body.bytes, as: UTF8.self))
        let path = filled(request.path).replacing("{door}", with: PathText.escaped(door))
        _ = try await client.send(
            RelayRequest(request.method, path, body: Array(body.utf8)), name: kind)
    }

    /// Answers each new button action as the producer does. An expired action does not open a door.
    private mutating func answerActions() async throws {
        for action in try await actions.new(client) {
            // The button is on a widget, or on the card of a door.
            let door =
                action["widget"]?.string == kind
                ? action["config"]?.string
                : action["activity"]?.string.flatMap { $0.hasPrefix(kind + ".") ? $0 : nil }
            guard let door, let answer = action["intent"]?.string.flatMap({ scenario.answers[$0] }),
                let expires = action["expires_at"]?.string.flatMap(Instant.init(rfc3339:)),
                SystemClock().now() < expires
            else { continue }
            try await StayingScenario.passOver { try await post(answer, about: door) }
        }
    }

    func filled(_ text: String) -> String {
        var text = text.replacing("{kind}", with: kind)
        let now = SystemClock().now()
        text = text.replacing("{now}", with: now.rfc3339)
        while let start = text.firstRange(of: "{now+"),
            let end = text[start.upperBound...].firstIndex(of: "}"),
            let span = Span(text: String(text[start.upperBound..<end]))
        {
            text.replaceSubrange(start.lowerBound...end, with: (now + span).rfc3339)
        }
        return text
    }

    // MARK: Results

    private mutating func isHeld(_ step: Scenario.Step) async throws -> Bool {
        let end = loop.now + .nanoseconds(step.lasts?.nanoseconds ?? 0)
        return try await loop.poll(
            every: Self.lookInterval, within: RunnerScenario.convergenceTimeout
        ) {
            try await answerActions()
            try await look()
            return loop.now >= end && holds(step) ? true : nil
        } ?? false
    }

    private mutating func look() async throws {
        for page in try await client.view("/v1/phones", name: nil).items("phones") {
            // Ignore phones without a widget of this run.
            guard let name = page["phone"]?.string, places.contains(where: { $0.phone == name })
            else { continue }
            phones[name] = page.json
            let widgets = page["widgets"]?.elements.filter { $0["kind"]?.string == kind } ?? []
            for place in places where place.phone == page["phone"]?.string {
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

    private func holds(_ step: Scenario.Step) -> Bool {
        let named = step.view.texts("of")
        let names = places.map(\.name).filter { named.isEmpty || named.contains($0) }
        // Some widgets have fetched and got nothing to show.
        for name in step.view.texts("nothing") where places.contains(where: { $0.name == name }) {
            let fetches = pages[name]?.document.root["fetches"]?.integer ?? 0
            guard newest[name] == nil, fetches > 0 else { return false }
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

/// The last line of `trigger` for a widget scenario.
struct WidgetSummary: Sendable {
    struct Widget: Sendable {
        var place: Scenario.Place
        var fetches: Int64
        /// The states that the widget showed, in order.
        var drawn: [JSON]
    }

    var scenario: String
    var widgets: [Widget] = []
    var steps: [ScenarioSummary.Step] = []

    /// True if each step reached its expected state.
    var converged: Bool { !widgets.isEmpty && steps.allSatisfy(\.isHeld) }

    var json: JSON {
        JSON.object { writer in
            writer.member("scenario", scenario)
            writer.member("converged", converged)
            writer.objects("widgets", widgets) { writer, widget in
                writer.member("widget", widget.place.name)
                writer.member("phone", widget.place.phone)
                writer.member("family", widget.place.family)
                writer.member("fetches", widget.fetches)
                writer.array("drawn", of: widget.drawn) { $0.raw($1) }
            }
            ScenarioSummary.write(steps, to: &writer)
        }
    }

    func table(for terminal: Terminal) -> String {
        let rows = widgets.map { widget in
            [
                widget.place.name, widget.place.phone, widget.place.family,
                "\(widget.fetches)", "\(widget.drawn.count)",
            ]
        }
        let table = TextTable(["WIDGET", "PHONE", "FAMILY", "FETCHES", "PICTURES"], rows)
        return ScenarioSummary.table(of: steps, "WIDGETS SHOW").text(for: terminal) + "\n"
            + table.text(for: terminal)
    }
}
