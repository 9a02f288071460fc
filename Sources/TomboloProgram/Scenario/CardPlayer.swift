import TomboloCore
import TomboloJSON

/// Plays a scenario of cards.
struct CardPlayer: ScenarioPlayer {
    var stage: ScenarioStage
    /// The cards of this run: one for each phone, or several if types are compared.
    private var cards: [Card] = []
    private var drawings = PhoneDrawings()
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

    init(_ stage: ScenarioStage) { self.stage = stage }

    mutating func begin() async throws {
        let (apps, devices) = (stage.scenario.apps, stage.phones)
        for device in devices { try await stage.meet(device, hasWidgets: false) }
        try await stage.registerTypes()
        guard !apps.isEmpty else {
            cards = devices.map { Card(phone: $0, app: "", activity: stage.id) }
            return
        }
        // Types are compared on phones of the same class. If there are enough phones, each has one
        // type. Else the phones of class `lab` have all types.
        let classes = try await classes()
        let isOneEach = Set(classes).count <= 1 && devices.count >= apps.count
        cards = devices.indices.flatMap { index in
            let isLab = classes.isEmpty || classes[index] == "lab"
            let own = isOneEach ? [index % apps.count] : isLab ? Array(apps.indices) : [0]
            return own.map { app in
                Card(
                    phone: devices[index], app: apps[app],
                    activity: "\(stage.id)-\(devices[index])" + (app > 0 ? "-\(app + 1)" : ""))
            }
        }
    }

    /// The budget class of each phone; empty if there are no simulated phones.
    private func classes() async throws -> [String] {
        do throws(ProgramError) {
            let pages = try await stage.client.view("/v1/phones", name: nil).items("phones")
            return stage.phones.map { device in
                pages.first { $0["phone"]?.string == device }?["class"]?.string ?? ""
            }
        } catch {
            guard error.status == .notFoundOrConflict else { throw error }
            return []
        }
    }

    func partings(isOfStay: Bool) -> [ScenarioStage.Deed] {
        guard isOfStay else { return [] }
        return Set(cards.map(\.activity)).sorted().map { id in
            {
                try await stage.perform(
                    "POST", "/v1/activities/\(PathText.escaped(id))/end", "{}", name: id)
            }
        }
    }

    // MARK: Requests

    func send(_ request: Scenario.Request) async throws {
        let body = String(decoding: request.body.bytes, as: UTF8.self)
        let isOfCard = !stage.scenario.apps.isEmpty && (request.path + body).contains("{activity}")
        let isForEach = request.isForPhones || isOfCard
        var phones: Set<String> = []
        for card in cards where isOfCard || phones.insert(card.phone).inserted {
            var body = filled(body, card)
            if request.method == "PUT", !request.isForPhones {
                body = addressed(body, to: isForEach ? [card.phone] : stage.phones)
            }
            try await stage.perform(
                request.method, filled(request.path, card), body, name: stage.id)
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

    /// Answers a tap on a card.
    mutating func respond(to action: JSONView) async throws {
        guard let card = cards.first(where: { $0.activity == action["activity"]?.string }),
            let answer = stage.scenario.answers[card.app]
        else { return }
        angles[card.activity, default: 0] += Self.turn
        let body = filled(String(decoding: answer.body.bytes, as: UTF8.self), card)
            .replacing("\"{angle}\"", with: "\(angles[card.activity] ?? 0)")
        try await ScenarioStage.passOver {
            try await stage.perform(
                answer.method, filled(answer.path, card), body, name: card.activity)
        }
    }

    // MARK: Results

    mutating func readPhones() async throws { try await drawings.look(stage.client, at: stage.id) }

    func holds(_ step: Scenario.Step) async throws -> Bool {
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
        for device in stage.phones {
            let view = try await stage.client.view("/v1/devices/\(device)", name: device)
            if view["presence"]?["state"]?.string != state { return false }
        }
        return true
    }

    /// Time limit for a phone's last report, sufficient for a busy machine.
    private static let reportTime = Duration.seconds(10)

    mutating func conclusion() async throws -> ScenarioSummary {
        var summary = ScenarioSummary(scenario: stage.scenario.name)
        // A phone may report a drawing a little later.
        _ = try await stage.loop.poll(every: .milliseconds(50), within: Self.reportTime) {
            summary.phones = []
            for card in cards { summary.phones.append(try await result(of: card)) }
            return summary.phones.allSatisfy(\.isFinal) ? true : nil
        }
        return summary
    }

    private func result(of card: Card) async throws -> PhoneSummary {
        let path = "/v1/activities/\(card.activity)"
        let view = try await stage.client.view(path, name: card.activity)
        let one = view.items("destinations").first { $0["device"]?.string == card.phone }
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
}
