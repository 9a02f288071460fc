import TomboloCore
import TomboloCrypto
import TomboloJSON
import TomboloLoop

/// Plays a scenario on the relay's phones, step by step, and checks what the phones draw. It acts
/// as the producer and as the phones' users.
struct ScenarioPlayer: Sendable {
    private let scenario: Scenario
    private let client: RelayClient
    private let loop: EpollLoop
    private let activity: String
    private let devices: [String]
    /// The cards of this run: one for each phone, or several if types are compared.
    private var cards: [Card] = []
    private var drawings = PhoneDrawings()
    private var actions = ActionReader()
    /// The angle of each activity, in degrees.
    private var angles: [String: Int64] = [:]

    /// A card: its phone, its type and its activity.
    private struct Card: Sendable {
        var phone: String
        var app: String
        var activity: String
    }

    /// Number of degrees that each tap adds.
    private static let turn: Int64 = 180

    init(_ scenario: Scenario, _ client: RelayClient, phones: Int, loop: EpollLoop) {
        (self.scenario, self.client, self.loop) = (scenario, client, loop)
        // A new id, because a start with the id of an ended activity would restart that activity.
        activity = "\(scenario.name)-\(Hex.encode(RandomBytes.make(4)))"
        devices = (1...phones).map { "phone-\($0)" }
    }

    /// Plays the steps. Stops at the first step after which phones do not show the expected state.
    mutating func run() async throws -> ScenarioSummary {
        var summary = ScenarioSummary(scenario: scenario.name, phones: [])
        try await begin()
        for step in scenario.steps {
            for request in step.requests { try await send(request) }
            let isHeld = try await isHeld(step)
            summary.steps.append(.init(name: step.name, shows: step.shows, isHeld: isHeld))
            if !isHeld { break }
        }
        // A phone may report a drawing a little later.
        let giveUpAt = loop.now + Self.reportTime
        repeat {
            summary.phones = []
            for card in cards { summary.phones.append(try await self.summary(of: card)) }
            if summary.phones.allSatisfy(\.isFinal) { break }
            try await loop.sleep(for: Self.lookInterval)
        } while loop.now < giveUpAt
        return summary
    }

    /// Time limit for a phone's last report, sufficient for a busy machine.
    private static let reportTime = Duration.seconds(10)

    private func summary(of card: Card) async throws -> PhoneSummary {
        let path = "/v1/activities/\(card.activity)"
        let view = try await client.view(path, name: card.activity)
        let one = view["destinations"]?.elements.first { $0["device"]?.string == card.phone }
        guard var phone = one.map(PhoneSummary.init) else {
            throw ProgramError(
                "\(card.phone) has no card of \(card.activity)", remedy: "tombolo doctor")
        }
        phone.pictures = drawings.pictures(of: card.phone)
        phone.type = card.app.isEmpty ? nil : card.app
        // If there is one activity, all the phone's drawings count, else this card's.
        let place = PhoneDrawings.Card(phone: card.phone, activity: card.activity)
        phone.drawn =
            (card.app.isEmpty
                ? drawings.sequences[card.phone] : drawings.cardSequences[place]) ?? []
        return phone
    }

    /// Starts the scenario's cards and answers taps until `isStopped`, but at most for 8 hours, the
    /// maximum life of a card. Then ends the cards.
    mutating func stay(until isStopped: () -> Bool) async throws {
        try await begin()
        for request in scenario.beginning { try await send(request) }
        let over = loop.now + StayingScenario.cardLife
        while !isStopped(), loop.now < over {
            try await answerTaps()
            try await loop.sleep(for: Self.lookInterval)
        }
        for id in Set(cards.map(\.activity)).sorted() {
            let path = "/v1/activities/\(PathText.escaped(id))/end"
            try await StayingScenario.passOver {
                _ = try await client.send(
                    RelayRequest("POST", path, body: Array("{}".utf8)), name: id)
            }
        }
    }

    private mutating func begin() async throws {
        try await meetPhones()
        try await scenario.registerTypes(client)
        guard !scenario.apps.isEmpty else {
            cards = devices.map { Card(phone: $0, app: "", activity: activity) }
            return
        }
        // Types are compared on phones of the same class. If there are enough phones, each has one
        // type. Else the phones of class `lab` have all types.
        let classes = try await classes()
        let isOneEach = Set(classes).count <= 1 && devices.count >= scenario.apps.count
        cards = devices.indices.flatMap { index in
            let all = scenario.apps.indices
            let isLab = classes.isEmpty || classes[index] == "lab"
            return (isOneEach ? [index % all.count] : isLab ? Array(all) : [0]).map { app in
                Card(
                    phone: devices[index], app: scenario.apps[app],
                    activity: "\(activity)-\(devices[index])" + (app > 0 ? "-\(app + 1)" : ""))
            }
        }
    }

    /// The budget class of each phone; empty if there are no simulated phones.
    private func classes() async throws -> [String] {
        do throws(ProgramError) {
            let pages = try await client.view("/v1/phones", name: nil).items("phones")
            return devices.map { device in
                pages.first { $0["phone"]?.string == device }?["class"]?.string ?? ""
            }
        } catch {
            guard error.status == .notFoundOrConflict else { throw error }
            return []
        }
    }

    /// Time limit for the phones to register. On a busy machine this takes longer.
    static let arrivalTime = Duration.seconds(10)

    private func meetPhones() async throws {
        let giveUpAt = loop.now + Self.arrivalTime
        for device in devices {
            while true {
                do throws(ProgramError) {
                    let path = "/v1/devices/\(device)"
                    _ = try await client.send(RelayRequest("GET", path), name: device)
                    break
                } catch {
                    guard error.status == .notFoundOrConflict, loop.now < giveUpAt else {
                        throw error
                    }
                }
                try await loop.sleep(for: RunnerScenario.pollInterval)
            }
        }
    }

    // MARK: Requests

    private func send(_ request: Scenario.Request) async throws {
        let body = String(decoding: request.body.bytes, as: UTF8.self)
        let isOfCard = !scenario.apps.isEmpty && (request.path + body).contains("{activity}")
        let isForEach = request.isForPhones || isOfCard
        var phones: Set<String> = []
        for card in cards where isOfCard || phones.insert(card.phone).inserted {
            var body = filled(body, card)
            if request.method == "PUT", !request.isForPhones {
                body = addressed(body, to: isForEach ? [card.phone] : devices)
            }
            _ = try await client.send(
                RelayRequest(request.method, filled(request.path, card), body: Array(body.utf8)),
                name: activity)
            if !isForEach { return }
        }
    }

    private func filled(_ text: String, _ card: Card) -> String {
        text.replacing("{activity}", with: card.activity)
            .replacing("{phone}", with: card.phone).replacing("{app}", with: card.app)
    }

    /// Adds the phones of this run to a start's audience.
    private func addressed(_ body: String, to phones: [String]) -> String {
        let json = JSON.object { $0.array("devices", of: phones) { $0.string($1) } }
        let start = JSON(unchecked: Array(body.utf8))
        let whole = start.setting(JSONPointer(tokens: ["audience"]), to: json) ?? start
        return String(decoding: whole.bytes, as: UTF8.self)
    }

    /// Sends the producer's request for each new tap.
    private mutating func answerTaps() async throws {
        for action in try await actions.new(client) {
            guard let card = cards.first(where: { $0.activity == action["activity"]?.string }),
                let answer = scenario.answers[card.app]
            else { continue }
            angles[card.activity, default: 0] += Self.turn
            let body = filled(String(decoding: answer.body.bytes, as: UTF8.self), card)
                .replacing("\"{angle}\"", with: "\(angles[card.activity] ?? 0)")
            try await StayingScenario.passOver {
                _ = try await client.send(
                    RelayRequest(answer.method, filled(answer.path, card), body: Array(body.utf8)),
                    name: card.activity)
            }
        }
    }

    // MARK: Results

    private mutating func isHeld(_ step: Scenario.Step) async throws -> Bool {
        let since = loop.now
        return try await loop.poll(
            every: Self.lookInterval, within: RunnerScenario.convergenceTimeout
        ) {
            try await answerTaps()
            try await drawings.look(client, at: activity)
            guard let lasts = step.lasts else { return try await holds(step) ? true : nil }
            return loop.now >= since + .nanoseconds(lasts.nanoseconds) ? true : nil
        } ?? false
    }

    /// This gives two reads for each frame.
    private static let lookInterval = Duration.milliseconds(50)

    private func holds(_ step: Scenario.Step) async throws -> Bool {
        if let shows = step.shows {
            for card in cards {
                let place = PhoneDrawings.Card(
                    phone: card.phone,
                    activity: card.activity + (step.view["card"]?.string ?? ""))
                let drawn = drawings.newest[place]?.document.root
                guard drawn?.isSame(as: shows.document.root) == true else { return false }
            }
        }
        guard let state = step.view["presence_state"]?.string else { return true }
        for device in devices {
            let view = try await client.view("/v1/devices/\(device)", name: device)
            if view["presence"]?["state"]?.string != state { return false }
        }
        return true
    }
}
