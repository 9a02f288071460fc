import TomboloCore
import TomboloCrypto
import TomboloJSON
import TomboloLoop

/// Plays a widget scenario on the simulated phones, step by step, and checks what they show.
struct WidgetPlayer: Sendable {
    private let scenario: WidgetScenario
    private let client: RelayClient
    private let loop: EpollLoop
    /// The kind of this run's widgets. It is new, so that widgets of other runs do not matter.
    private let kind: String
    let places: [WidgetScenario.Place]
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
    init(_ scenario: WidgetScenario, _ client: RelayClient, phones: Int, loop: EpollLoop) {
        self.scenario = scenario
        self.client = client
        self.loop = loop
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
        for type in scenario.types {
            _ = try await client.send(
                RelayRequest("PUT", "/v1/types/\(type.name)", body: type.body.bytes),
                name: type.name)
        }
    }

    private mutating func playSteps() async throws -> WidgetSummary {
        var summary = WidgetSummary(scenario: scenario.name)
        for step in scenario.steps {
            try await look()
            (pagesBefore, phonesBefore) = (pages, phones)
            for request in step.requests { try await send(request) }
            let isHeld = try await isHeld(step)
            summary.steps.append(
                ScenarioSummary.Step(name: step.name, shows: step.shows, isHeld: isHeld))
            if !isHeld { break }
        }
        for place in places {
            summary.widgets.append(
                WidgetSummary.Widget(
                    place, fetches: pages[place.name]?.document.root["fetches"]?.integer ?? 0,
                    drawn: sequences[place.name] ?? []))
        }
        return summary
    }

    /// Waits until a phone has registered itself and its tokens, as earlier pushes could not reach
    /// it.
    private func meet(_ phone: String) async throws {
        let giveUpAt = loop.now + ScenarioPlayer.arrivalTime
        while true {
            do throws(ProgramError) {
                let answer = try await client.send(
                    RelayRequest("GET", "/v1/devices/\(PathText.escaped(phone))"), name: phone)
                let tokens = try answer.document().root["tokens"]?.elements.map { $0 } ?? []
                if tokens.contains(where: { $0["name"]?.string == "widget" }) { return }
            } catch {
                guard error.status == .notFoundOrConflict else { throw error }
            }
            guard loop.now < giveUpAt else {
                throw ProgramError(
                    "\(phone) has no token for its widgets", remedy: "tombolo device show \(phone)")
            }
            try await loop.sleep(for: RunnerScenario.pollInterval)
        }
    }

    private func act(_ place: WidgetScenario.Place, _ deed: String) async throws {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("do", deed)
        writer.member("widget", kind)
        writer.member("family", place.family)
        if let config = place.config { writer.member("config", filled(config)) }
        writer.endObject()
        let path = "/v1/phones/\(PathText.escaped(place.phone))"
        _ = try await client.send(
            RelayRequest("POST", path, body: writer.bytes), name: place.phone)
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

    private mutating func isHeld(_ step: WidgetScenario.Step) async throws -> Bool {
        let since = loop.now
        while true {
            try await answerActions()
            try await look()
            let isOver =
                step.lasts.map { loop.now >= since + .nanoseconds($0.nanoseconds) } ?? true
            if isOver, holds(step) { return true }
            if loop.now >= since + RunnerScenario.convergenceTimeout { return false }
            try await loop.sleep(for: Self.lookInterval)
        }
    }

    private mutating func look() async throws {
        let answer = try await client.send(RelayRequest("GET", "/v1/phones"), name: nil)
        for page in try answer.document().root["phones"]?.elements.map({ $0 }) ?? [] {
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

    private func holds(_ step: WidgetScenario.Step) -> Bool {
        let names = places.map(\.name).filter {
            step.widgets.isEmpty || step.widgets.contains($0)
        }
        for name in step.empty where places.contains(where: { $0.name == name }) {
            let fetches = pages[name]?.document.root["fetches"]?.integer ?? 0
            guard newest[name] == nil, fetches > 0 else { return false }
        }
        if let shows = step.shows {
            for name in names {
                guard let state = newest[name],
                    ScenarioPlayer.isSame(state.document.root, shows.document.root)
                else { return false }
            }
        }
        guard holdsBesides(step) else { return false }
        let differing = step.differing.filter { name in places.contains { $0.name == name } }
        let dates = differing.compactMap {
            pages[$0]?.document.root["next_entry_at"]?.string
        }
        return dates.count == differing.count && Set(dates).count == differing.count
    }
}

/// The last line of `trigger` for a widget scenario.
struct WidgetSummary: Sendable {
    struct Widget: Sendable {
        var place: WidgetScenario.Place
        var fetches: Int64
        /// The states that the widget showed, in order.
        var drawn: [JSON]

        init(_ place: WidgetScenario.Place, fetches: Int64, drawn: [JSON]) {
            (self.place, self.fetches, self.drawn) = (place, fetches, drawn)
        }
    }

    var scenario: String
    var widgets: [Widget] = []
    var steps: [ScenarioSummary.Step] = []

    /// True if each step reached its expected state.
    var converged: Bool { !widgets.isEmpty && steps.allSatisfy(\.isHeld) }

    var json: JSON {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("scenario", scenario)
        writer.member("converged", converged)
        writer.name("widgets")
        writer.beginArray()
        for widget in widgets {
            writer.beginObject()
            writer.member("widget", widget.place.name)
            writer.member("phone", widget.place.phone)
            writer.member("family", widget.place.family)
            writer.member("fetches", widget.fetches)
            writer.name("drawn")
            writer.beginArray()
            for state in widget.drawn { writer.raw(state) }
            writer.endArray()
            writer.endObject()
        }
        writer.endArray()
        ScenarioSummary.write(steps, to: &writer)
        writer.endObject()
        return writer.json
    }

    func table(for terminal: Terminal) -> String {
        var table = TextTable(["WIDGET", "PHONE", "FAMILY", "FETCHES", "PICTURES"])
        for widget in widgets {
            table.add([
                widget.place.name, widget.place.phone, widget.place.family,
                "\(widget.fetches)", "\(widget.drawn.count)",
            ])
        }
        return ScenarioSummary.table(of: steps, "WIDGETS SHOW").text(for: terminal) + "\n"
            + table.text(for: terminal)
    }
}
