import TomboloCore
import TomboloCrypto
import TomboloJSON
import TomboloLoop

/// Plays a scenario on the relay's phones, step by step, and looks at what they draw. It is the
/// producer and the phones' users at once.
struct ScenarioPlayer: Sendable {
    private let scenario: Scenario
    private let client: RelayClient
    private let loop: EpollLoop
    private let activity: String
    private let devices: [String]
    private var drawings = PhoneDrawings()
    /// Taps that have their answer, and how far each activity has turned.
    private var answered: Set<String> = []
    private var angles: [String: Int64] = [:]

    /// How far a tap turns, in degrees.
    private static let turn: Int64 = 180

    init(_ scenario: Scenario, _ client: RelayClient, phones: Int, loop: EpollLoop) {
        self.scenario = scenario
        self.client = client
        self.loop = loop
        // A fresh id: one beside an ended one is no restart of it.
        activity = "\(scenario.name)-\(Hex.encode(RandomBytes.make(4)))"
        devices = (1...phones).map { "phone-\($0)" }
    }

    /// Stops at the first step whose end the phones do not come to.
    mutating func run() async throws -> ScenarioSummary {
        var summary = ScenarioSummary(scenario: scenario.name, phones: [])
        try await meetPhones()
        try await scenario.registerTypes(client)
        for step in scenario.steps {
            for request in step.requests { try await send(request) }
            let isHeld = try await isHeld(step)
            summary.steps.append(
                ScenarioSummary.Step(name: step.name, shows: step.shows, isHeld: isHeld))
            if !isHeld { break }
        }
        for (index, device) in devices.enumerated() {
            let view = try await view(id(ofPhone: index))
            let all = view["destinations"]?.elements.map { $0 } ?? []
            guard let one = all.first(where: { $0["device"]?.string == device }) else { continue }
            var phone = PhoneSummary(one)
            phone.pictures = drawings.pictures(of: device)
            phone.drawn = drawings.sequences[device] ?? []
            summary.phones.append(phone)
        }
        return summary
    }

    /// Phones introduce themselves when they are up: on a busy machine after the relay's first
    /// line.
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

    /// The activity that a phone shows: its own, or that of all.
    private func id(ofPhone index: Int) -> String {
        scenario.apps.isEmpty ? activity : "\(activity)-\(devices[index])"
    }

    private func send(_ request: Scenario.Request) async throws {
        let isForEach = request.isForPhones || !scenario.apps.isEmpty
        for index in isForEach ? Array(devices.indices) : [0] {
            var body = filled(String(decoding: request.body.bytes, as: UTF8.self), phone: index)
            if request.method == "PUT", !request.isForPhones {
                body = addressed(body, to: isForEach ? [devices[index]] : devices)
            }
            _ = try await client.send(
                RelayRequest(
                    request.method, filled(request.path, phone: index), body: Array(body.utf8)),
                name: activity)
        }
    }

    private func filled(_ text: String, phone index: Int) -> String {
        text.replacing("{activity}", with: id(ofPhone: index))
            .replacing("{phone}", with: devices[index])
            .replacing("{app}", with: scenario.app(ofPhone: index))
    }

    /// A start, to phones of this run.
    private func addressed(_ body: String, to phones: [String]) -> String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("devices")
        writer.beginArray()
        for phone in phones { writer.string(phone) }
        writer.endArray()
        writer.endObject()
        let start = JSON(unchecked: Array(body.utf8))
        let whole = start.setting(JSONPointer(tokens: ["audience"]), to: writer.json) ?? start
        return String(decoding: whole.bytes, as: UTF8.self)
    }

    /// Does what the producer does with each tap that is new on record.
    private mutating func answerTaps() async throws {
        guard !scenario.answers.isEmpty else { return }
        for index in devices.indices {
            let id = id(ofPhone: index)
            guard let answer = scenario.answers[scenario.app(ofPhone: index)] else { continue }
            let page = try await client.send(
                RelayRequest("GET", "/v1/log?kind=fact&fact=action&activity=\(id)"), name: id)
            for entry in try page.document().root["events"]?.elements.map({ $0 }) ?? [] {
                guard let action = entry["action"]?.string, answered.insert(action).inserted else {
                    continue
                }
                angles[id, default: 0] += Self.turn
                let body = filled(String(decoding: answer.body.bytes, as: UTF8.self), phone: index)
                    .replacing("\"{angle}\"", with: "\(angles[id] ?? 0)")
                _ = try await client.send(
                    RelayRequest(
                        answer.method, filled(answer.path, phone: index), body: Array(body.utf8)),
                    name: id)
            }
        }
    }

    // MARK: What comes of it

    private mutating func isHeld(_ step: Scenario.Step) async throws -> Bool {
        let since = loop.now
        while true {
            try await answerTaps()
            try await drawings.look(client, at: activity)
            if let lasts = step.lasts {
                if loop.now >= since + .nanoseconds(lasts.nanoseconds) { return true }
            } else if try await holds(step) {
                return true
            }
            if loop.now >= since + RunnerScenario.convergenceTimeout { return false }
            try await loop.sleep(for: Self.lookInterval)
        }
    }

    /// Twice in the time of a frame.
    private static let lookInterval = Duration.milliseconds(50)

    private func holds(_ step: Scenario.Step) async throws -> Bool {
        if let shows = step.shows {
            for (index, device) in devices.enumerated() {
                let card = PhoneDrawings.Card(
                    phone: device, activity: id(ofPhone: index) + step.card)
                guard let drawn = drawings.newest[card],
                    Self.isSame(drawn.document.root, shows.document.root)
                else { return false }
            }
        }
        guard let state = step.presenceState else { return true }
        for device in devices {
            let answer = try await client.send(
                RelayRequest("GET", "/v1/devices/\(device)"), name: device)
            let view = try answer.document().root
            if view["presence"]?["state"]?.string != state { return false }
        }
        return true
    }

    /// The same value, however it is written. A bundle, or a keyframe, may be beside it.
    static func isSame(_ one: JSONView, _ other: JSONView) -> Bool {
        guard one.kind == other.kind else { return false }
        switch one.kind {
        case .null: return true
        case .bool: return one.bool == other.bool
        case .number: return one.double == other.double
        case .string: return one.string == other.string
        case .array:
            let (these, those) = (Array(one.elements), Array(other.elements))
            return these.count == those.count && zip(these, those).allSatisfy(isSame)
        case .object:
            let members = one.members.filter { $0.0 != "clip" }
            return members.count == other.count
                && members.allSatisfy { name, value in
                    other[name].map { isSame(value, $0) } ?? false
                }
        }
    }

    private func view(_ id: String) async throws -> JSONView {
        try await client.send(RelayRequest("GET", "/v1/activities/\(id)"), name: id).document()
            .root
    }
}
