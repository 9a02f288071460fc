import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay
import TomboloServer
import TomboloSimulator

/// Draws the Dynamic Islands of `dev`'s phones on a terminal. Used on the loop only.
final class DevScreen: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let context: CommandContext
    private let loop: EpollLoop
    private let relay: Relay
    private let ready: ReadyLine
    private let control: SimulatedPhones
    private var keys: DevKeys
    /// The phones as `/v1/phones` shows them, by name.
    private var pages: [String: JSON] = [:]
    private var phones: [IslandScreen.Phone]
    /// For each phone, the player that animates the state of its card.
    private var players: [IslandPlayer]
    /// How states of each registered type are drawn.
    private var faces: [String: IslandFace] = [:]
    /// For each type, the intents of the buttons on its cards and widgets.
    private var intents: [String: [TypeIntent]] = [:]
    /// For each phone, when its card ended; nil if the card runs or there is none.
    private var endedAt: [MonotonicInstant?]
    /// For each phone, the type of its card.
    private var types: [String?]
    private var notes: [String] = []

    /// This gives two drawings for each frame of the fastest phone.
    static let drawingInterval = Duration.milliseconds(50)
    static let watchingInterval = Duration.milliseconds(500)
    /// How long an ended card stays on the screen. A real phone shows it on the Lock Screen only.
    static let endedTime = Duration.seconds(10)
    /// Maximum number of notes at the bottom of the screen.
    static let notesMax = 3
    /// What one sees of the scenario of `--scenario`, and what to press.
    private let scenarioWords: String?

    /// Maximum number of types whose preview is read. States of further types are drawn as text.
    static let typesMax = 200

    init(
        _ context: CommandContext, ready: ReadyLine, phones: Int, control: SimulatedPhones,
        relay: Relay
    ) {
        self.context = context
        scenarioWords = context.invocation.text(.scenario).flatMap(Scenario.init(named:)).map {
            "\($0.name): \($0.wall.joined(separator: " "))"
        }
        loop = context.loop
        (self.relay, self.ready, self.control) = (relay, ready, control)
        keys = DevKeys(phones: phones)
        self.phones = (0..<phones).map { index in
            IslandScreen.Phone(name: "phone-\(index + 1)", budgetClass: "")
        }
        players = Array(repeating: IslandPlayer(), count: phones)
        types = Array(repeating: nil, count: phones)
        endedAt = Array(repeating: nil, count: phones)
    }

    /// Draws until the simulator ends or the user presses `q`. Returns true for `q`. Restores the
    /// terminal in either case.
    func run(_ simulator: SimulatorProcess) async throws -> Bool {
        let screen = TerminalScreen(
            context.terminal, output: LineOutput(loop: loop), readsKeys: readsKeys)
        defer { screen.close() }
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await self.listen(simulator)
                return false
            }
            group.addTask { try await self.draw(on: screen) }
            group.addTask { try await self.watchPhones() }
            if readsKeys { group.addTask { try await self.readKeys() } }
            defer { group.cancelAll() }
            return try await group.next() ?? false
        }
    }

    private func draw(on screen: TerminalScreen) async throws -> Bool {
        while true {
            await lookAtRelay()
            let now = SystemClock().now()
            for (index, player) in players.enumerated() {
                if let end = endedAt[index], loop.now >= end + Self.endedTime { clear(index) }
                phones[index].drawing = isOwnApp(index) ? nil : player.drawing(at: now)
                phones[index].isChosen = readsKeys && phones.count > 1 && index == keys.chosen
            }
            let island = IslandScreen(
                columns: context.terminal.size.columns, usesColor: context.terminal.usesColor)
            let lines = island.lines(phones, title: "tombolo dev · \(ready.api)")
            let widgets = WidgetScreen(
                columns: island.columns, usesColor: island.usesColor, faces: faces, now: now
            ).lines(names.compactMap { pages[$0]?.document.root })
            screen.draw(
                lines + widgets + notes,
                foot: (readsKeys ? [DevKeys.hint] : []) + [
                    scenarioWords ?? "five scenarios are on the wall", "the wall: \(ready.wall)",
                    "export TOMBOLO_RELAY=\(ready.api) TOMBOLO_KEY=\(ready.key ?? "")",
                ])
            try await loop.sleep(for: Self.drawingInterval)
        }
    }

    /// True while the card's own app is in the foreground. Then the island is empty, except if it
    /// shows a window.
    private func isOwnApp(_ index: Int) -> Bool {
        let page = pages[phones[index].name]?.document.root
        return page?["presence"]?.string == "active"
            && types[index].flatMap { faces[$0] }?.preview?.windowCorner == nil
    }

    /// Removes the card from the phone's island.
    private func clear(_ index: Int) {
        players[index].clear()
        (phones[index].activity, phones[index].alert, endedAt[index]) = (nil, nil, nil)
        phones[index].hasEnded = false
    }

    /// Names of the phones, and of the iPad, which has widgets but no island.
    private var names: [String] { phones.map(\.name) + ["pad-1"] }

    private var readsKeys: Bool {
        context.terminal.inputIsTerminal && !context.invocation.isGiven(.noInput)
    }

    private func readKeys() async throws -> Bool {
        let input = try InputReader(nil, loop: loop)
        while case .bytes(let bytes) = try await input.next() {
            for key in bytes where try await press(key) { return true }
        }
        // If keys are not read, only the other tasks end the screen.
        try await loop.sleep(until: .distantFuture)
        return false
    }

    /// Carries out the action of a key. Returns true if it ends the program.
    private func press(_ key: UInt8) async throws -> Bool {
        let name = phones.indices.contains(keys.chosen) ? phones[keys.chosen].name : ""
        switch keys.press(key, on: pages[name]?.document.root, intents: intents) {
        case .quit: return true
        case .nothing: return false
        case .act(let body):
            guard let answer = await ask("POST", "/\(name)", Array(body.utf8)) else { return false }
            // A refusal is an object with the member `error`. Any other answer is a phone's page.
            let said = (try? JSONDocument(answer.body))?.root["error"]?.string
            if let said { add(note: said) } else { keepPage(answer.body) }
            return false
        }
    }

    /// Reads the phones' pages repeatedly, because keys and other commands change the phones.
    private func watchPhones() async throws -> Bool {
        while true {
            let body = await ask("GET", "", [])?.body ?? []
            // An answer that is not JSON is ignored.
            for phone in (try? JSONDocument(body))?.root["phones"]?.elements.map(\.json)
                ?? []
            {
                keepPage(phone.bytes)
            }
            await learnTypes()
            try await loop.sleep(for: Self.watchingInterval)
        }
    }

    /// Reads the types again, because they may be registered or changed at any time.
    private func learnTypes() async {
        let (views, _) = await relay.read { core, _ in
            core.typeViews(of: .main, after: nil, limit: Self.typesMax)
        }
        for view in views {
            // This cannot fail: the relay has parsed the type before.
            let type = try? ActivityType(reading: view.body.document.root, lenient: true)
            faces[view.name] = type.map(IslandFace.init)
            intents[view.name] = type?.intents
        }
        for (index, type) in types.enumerated() { players[index].face = face(of: type) }
    }

    /// Sends a request to the simulator. If it does not answer, adds a note and returns nil.
    private func ask(_ method: String, _ path: String, _ body: [UInt8]) async -> PhoneAnswer? {
        do {
            return try await control.answer(method, path, body)
        } catch {
            add(note: "the simulator does not answer: \(error)")
            return nil
        }
    }

    private func keepPage(_ bytes: [UInt8]) {
        // An answer that is not JSON is ignored.
        guard let page = try? JSON(validating: bytes),
            let name = page.document.root["phone"]?.string
        else { return }
        pages[name] = page
        guard let index = phones.firstIndex(where: { $0.name == name }) else { return }
        phones[index].place = DevKeys.place(page.document.root)
    }

    private func add(note: String) {
        notes.append(note)
        notes.removeFirst(max(0, notes.count - Self.notesMax))
    }

    // MARK: What the phones show

    private func listen(_ simulator: SimulatorProcess) async throws {
        while let line = try await simulator.nextLine() {
            // A line that is not JSON is ignored.
            if let view = try? JSONDocument(line).root { note(view) }
        }
    }

    private func note(_ view: JSONView) {
        guard let name = view["phone"]?.string,
            let index = phones.firstIndex(where: { $0.name == name })
        else { return }
        switch view["event"]?.string {
        // The phone's page shows these changes.
        case "widget", "reloaded", "tapped": return
        case "dismissed":
            clear(index)
        case "ignored":
            let reason = view["reason"]?.string ?? ""
            let isHeld = reason == IgnoredPush.Reason.heldOverBudget.rawValue
            add(note: "\(name) \(isHeld ? "holds" : "ignored") a push: \(reason)")
        default:
            phones[index].shown = view["shown"]?.integer ?? 0
            phones[index].activity = view["activity"]?.string.map(Self.printable)
            if let event = view["event"]?.string, event != "drawn" {
                phones[index].hasEnded = event == "ended"
                endedAt[index] = event == "ended" ? loop.now : nil
            }
            phones[index].alert = view["alert"]?.string.map(Self.printable)
            // If the state is not drawn yet, another line will come when it is.
            guard view["drawn"]?.bool != false, let state = view["state"]?.json else { return }
            types[index] = view["type"]?.string
            players[index].hold(
                state, of: view["activity"]?.string,
                as: face(of: types[index]),
                at: view["at"]?.string.flatMap(Instant.init(rfc3339:)) ?? SystemClock().now())
        }
    }

    private func face(of type: String?) -> IslandFace { type.flatMap { faces[$0] } ?? IslandFace() }

    // MARK: What the relay did

    /// Gets the newest activity of each phone from the relay.
    private func lookAtRelay() async {
        let (views, _) = await relay.activities(
            ActivityFilter(tenant: .main, status: nil, type: nil, user: nil), after: nil,
            limit: 100)
        let now = await relay.wallNow()
        var newest: [Int: ActivityView] = [:]
        for view in views.sorted(by: { $0.seq < $1.seq }) {
            for destination in view.destinations {
                let name = destination.recipient.name.rawValue
                guard let index = phones.firstIndex(where: { $0.name == name }) else { continue }
                newest[index] = view
                phones[index].budgetClass = destination.grant.budgetClass.name
                phones[index].waiting = IslandScreen.waiting(destination.waiting, now: now)
            }
        }
        for (index, view) in newest {
            let ledgers = await relay.read { core, now in core.ledgers(of: view.key, now: now) }
            let name = phones[index].name
            guard let books = ledgers?.last(where: { $0.recipient.name.rawValue == name }) else {
                continue
            }
            phones[index].sent = books.ledger.counts.sent
            phones[index].merged = books.ledger.counts.merged
            phones[index].framesAsked = books.frames.asked
            phones[index].framesSent = books.frames.sent
        }
    }

    private static func printable(_ text: String) -> String {
        IslandPlayer.printable(text, atMost: IslandScreen.width)
    }
}
