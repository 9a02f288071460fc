import TomboloCore
import TomboloCrypto
import TomboloJSON
import TomboloLoop

/// Plays a scenario on the relay's phones, step by step, and looks at what they hold.
struct ScenarioPlayer: Sendable {
    private let scenario: Scenario
    private let client: RelayClient
    private let loop: EpollLoop
    private let activity: String
    private let devices: [String]

    init(_ scenario: Scenario, _ client: RelayClient, phones: Int, loop: EpollLoop) {
        self.scenario = scenario
        self.client = client
        self.loop = loop
        // A fresh id: one beside an ended one is no restart of it.
        activity = "\(scenario.name)-\(Hex.encode(RandomBytes.make(4)))"
        devices = (1...phones).map { "phone-\($0)" }
    }

    /// Stops at the first step whose end the phones do not come to.
    func run() async throws -> ScenarioSummary {
        var summary = ScenarioSummary(scenario: scenario.name, phones: [])
        try await meetPhones()
        for step in scenario.steps {
            for request in step.requests { try await send(request) }
            if let lasts = step.lasts { try await loop.sleep(for: .nanoseconds(lasts.nanoseconds)) }
            let isHeld = try await isHeld(step)
            summary.steps.append(
                ScenarioSummary.Step(name: step.name, shows: step.shows, isHeld: isHeld))
            if !isHeld { break }
        }
        summary.phones = destinations(of: try await view()).map(PhoneSummary.init)
        return summary
    }

    /// Phones introduce themselves when they are up: on a busy machine after the relay's first
    /// line.
    private static let arrivalTime = Duration.seconds(10)

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

    private func send(_ request: Scenario.Request) async throws {
        for device in request.isForPhones ? devices : [""] {
            let path = request.path.replacing("{activity}", with: activity)
                .replacing("{phone}", with: device)
            let isStart = request.method == "PUT" && !request.isForPhones
            let body = isStart ? addressed(request.body) : request.body
            _ = try await client.send(
                RelayRequest(request.method, path, body: body.bytes), name: activity)
        }
    }

    /// A start, to the phones of this run.
    private func addressed(_ body: JSON) -> JSON {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("devices")
        writer.beginArray()
        for device in devices { writer.string(device) }
        writer.endArray()
        writer.endObject()
        return body.setting(JSONPointer(tokens: ["audience"]), to: writer.json) ?? body
    }

    private func isHeld(_ step: Scenario.Step) async throws -> Bool {
        let giveUpAt = loop.now + RunnerScenario.convergenceTimeout
        while true {
            if try await holds(step) { return true }
            if loop.now >= giveUpAt { return false }
            try await loop.sleep(for: RunnerScenario.pollInterval)
        }
    }

    private func holds(_ step: Scenario.Step) async throws -> Bool {
        if let state = step.presenceState {
            for device in devices {
                let answer = try await client.send(
                    RelayRequest("GET", "/v1/devices/\(device)"), name: device)
                let view = try answer.document().root
                if view["presence"]?["state"]?.string != state { return false }
            }
        }
        guard let shows = step.shows else { return true }
        // What phones report is compared with the relay's state byte for byte, by the relay.
        let view = try await view()
        let held = destinations(of: view)
        return view["state"].map { Self.isSame($0, shows.document.root) } ?? false
            && held.count == devices.count
            && held.allSatisfy { $0["shown"]?["matches"]?.bool == true }
    }

    /// The same value, however it is written.
    private static func isSame(_ one: JSONView, _ other: JSONView) -> Bool {
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
            let those = Array(other.members)
            return one.count == those.count
                && those.allSatisfy { name, value in
                    one[name].map { isSame($0, value) } ?? false
                }
        }
    }

    private func view() async throws -> JSONView {
        try await client.send(
            RelayRequest("GET", "/v1/activities/\(activity)"), name: activity
        ).document().root
    }

    private func destinations(of view: JSONView) -> [JSONView] {
        let all = view["destinations"].map { Array($0.elements) } ?? []
        return devices.compactMap { name in all.first { $0["device"]?.string == name } }
    }
}
