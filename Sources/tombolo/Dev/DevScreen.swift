import TomboloCore
import TomboloJSON
import TomboloLoop
import TomboloRelay

/// The islands of `dev` on a terminal, moving. On the loop only.
final class DevScreen: @unchecked Sendable {
    // Sendable: used on the loop's thread only.

    private let context: CommandContext
    private let loop: EpollLoop
    private let relay: Relay
    private let ready: ReadyLine
    private var phones: [IslandScreen.Phone]
    /// What the app on each of them makes of its card's state.
    private var players: [IslandPlayer]
    private var notes: [String] = []

    /// Twice as often as the fastest phone changes.
    static let drawingInterval = Duration.milliseconds(50)
    /// Notes at the foot of the screen.
    static let notesMax = 3

    init(_ context: CommandContext, ready: ReadyLine, phones: Int, relay: Relay) {
        self.context = context
        loop = context.loop
        self.relay = relay
        self.ready = ready
        self.phones = (0..<phones).map { index in
            IslandScreen.Phone(name: "phone-\(index + 1)", budgetClass: "")
        }
        players = Array(repeating: IslandPlayer(), count: phones)
    }

    /// Draws until the simulator ends or somebody presses `q` (then it answers true), and gives the
    /// terminal back in any case.
    func run(_ simulator: SimulatorProcess) async throws -> Bool {
        let readsKeys =
            context.terminal.inputIsTerminal && !context.invocation.isGiven(.noInput)
        let screen = TerminalScreen(
            context.terminal, output: LineOutput(loop: loop), readsKeys: readsKeys)
        defer { screen.close() }
        return try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                try await self.listen(simulator)
                return false
            }
            group.addTask { try await self.draw(on: screen) }
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
                phones[index].picture = player.picture(at: now)
                phones[index].texts = player.texts(at: now)
            }
            let island = IslandScreen(
                columns: context.terminal.size.columns, usesColor: context.terminal.usesColor)
            let lines = island.lines(phones, title: "tombolo dev · \(ready.api)\(keysHint)")
            screen.draw(
                lines + notes,
                foot: [
                    "tombolo trigger runner --for 30s", "console: \(ready.consoleWithKey)",
                    "export TOMBOLO_RELAY=\(ready.api) TOMBOLO_KEY=\(ready.key ?? "")",
                ])
            try await loop.sleep(for: Self.drawingInterval)
        }
    }

    private var keysHint: String { context.invocation.isGiven(.noInput) ? "" : " · q quits" }

    private func readKeys() async throws -> Bool {
        let input = try InputReader(nil, loop: loop)
        while case .bytes(let keys) = try await input.next() {
            if keys.contains(UInt8(ascii: "q")) { return true }
        }
        // A terminal that hangs up is told by a signal.
        try await loop.sleep(until: .distantFuture)
        return false
    }

    // MARK: What the phones show

    private func listen(_ simulator: SimulatorProcess) async throws {
        while let line = try await simulator.nextLine() {
            // A line that is none of the islands' is not for this screen.
            if let view = try? JSONDocument(line).root { note(view) }
        }
    }

    private func note(_ view: JSONView) {
        guard let name = view["phone"]?.string,
            let index = phones.firstIndex(where: { $0.name == name })
        else { return }
        switch view["event"]?.string {
        case "dismissed":
            players[index].clear()
            phones[index].activity = nil
            phones[index].alert = nil
        case "ignored":
            notes.append("\(name) ignored a push: \(view["reason"]?.string ?? "")")
            notes.removeFirst(max(0, notes.count - Self.notesMax))
        default:
            phones[index].shown = view["shown"]?.integer ?? 0
            phones[index].activity = view["activity"]?.string.map(Self.printable)
            phones[index].hasEnded = view["event"]?.string == "ended"
            phones[index].alert = view["alert"]?.string.map(Self.printable)
            guard let state = view["state"]?.json else { return }
            players[index].hold(
                state, of: view["activity"]?.string,
                at: view["at"]?.string.flatMap(Instant.init(rfc3339:)) ?? SystemClock().now())
        }
    }

    // MARK: What the relay did

    /// The newest activity of each phone, by the relay's own books.
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
            let ledgers = await relay.ledgers(of: view.key) ?? []
            let name = phones[index].name
            guard let books = ledgers.last(where: { $0.recipient.name.rawValue == name }) else {
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
