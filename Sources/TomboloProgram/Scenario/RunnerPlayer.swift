import TomboloCore
import TomboloJSON
import TomboloLoop

/// The scenario `runner` without steps: a cat in the Dynamic Island of every phone, ten frames a
/// second.
struct RunnerPlayer: Sendable {
    private static let type = "RunnerWidgetAttributes"
    private static let every = Span.milliseconds(100)
    /// Interval between reads after every phone has moved, so that hours of it do not load the
    /// relay.
    private static let watchInterval = Duration.seconds(5)

    private let stage: ScenarioStage
    private var drawings = PhoneDrawings()

    init(_ stage: ScenarioStage) { self.stage = stage }

    private var path: String { "/v1/activities/\(stage.id)" }
    private var loop: EpollLoop { stage.loop }

    /// Starts the cat, plays for `duration`, ends it, and waits for the last state on all phones.
    mutating func run(for duration: Span) async throws -> ScenarioSummary {
        try await begin()
        try await wait(until: loop.now + .nanoseconds(duration.nanoseconds))
        // A short run may end before a slow phone has drawn its second picture: wait for it.
        try await wait(until: loop.now + ScenarioStage.convergenceTimeout, orMoved: true)
        let all = #"{"where":{"type":"\#(Self.type)"}}"#
        try await stage.perform("POST", "/v1/activities/end", all, name: stage.id)
        var summary = ScenarioSummary(scenario: stage.scenario.name)
        _ = try await loop.poll(
            every: ScenarioStage.pollInterval, within: ScenarioStage.convergenceTimeout
        ) {
            summary = try await self.observed()
            return summary.converged ? true : nil
        }
        return summary
    }

    /// Lets the cat run until `isStopped`, but at most for 8 hours, the maximum life of a card.
    mutating func stay(until isStopped: () -> Bool) async throws {
        try await begin()
        let over = loop.now + ScenarioStage.cardLife
        while !isStopped(), loop.now < over {
            // The request keeps the connection open: the relay closes one that is idle for a
            // minute.
            try await stage.perform("GET", "/version", name: nil)
            try await loop.sleep(for: ScenarioStage.pollInterval)
        }
        try await ScenarioStage.passOver {
            try await stage.perform("POST", "\(path)/end", "{}", name: stage.id)
        }
    }

    /// Starts a cat. Only the newest cat runs; older ones stop at their present picture.
    private mutating func begin() async throws {
        try await stage.registerTypes()
        let running = "/v1/activities?status=active&type=\(Self.type)&limit=100"
        for one in try await stage.client.view(running, name: nil).items("activities") {
            for clip in one.items("clips") where clip["playing"]?.bool == true {
                let names = [one["activity"], clip["clip"]].map {
                    PathText.escaped($0?.string ?? "")
                }
                let path = "/v1/activities/\(names[0])/clips/\(names[1])"
                try await stage.perform("DELETE", path, name: names[0])
            }
        }
        try await stage.perform(
            "PUT", path, startBody, fields: [("if-none-match", "*")], name: stage.id)
        try await leaveApps()
        let clock = try await reportsPresence() ? "shown" : "wall"
        try await stage.perform("POST", "\(path)/clips", clipBody(clock: clock), name: stage.id)
    }

    /// Sends the app to the background on simulated phones, because the cat only runs there. Real
    /// phones are not affected.
    private mutating func leaveApps() async throws {
        try await drawings.look(stage.client, at: stage.id)
        guard drawings.areThere else { return }
        for device in stage.phones {
            try await stage.perform("POST", "/v1/phones/\(device)", #"{"do":"back"}"#, name: device)
        }
    }

    /// True if a phone reports its presence. Then clips can pause while the app is in front.
    private func reportsPresence() async throws -> Bool {
        for device in stage.phones {
            let view = try await stage.client.view("/v1/devices/\(device)", name: device)
            if view["presence"] != nil { return true }
        }
        return false
    }

    /// Waits, and meanwhile reads the phones, to see each picture.
    private mutating func wait(until end: MonotonicInstant, orMoved: Bool = false) async throws {
        while loop.now < end {
            let summary = try await observed()
            let haveMoved = summary.phones.count == stage.phones.count && summary.haveMoved
            if haveMoved, orMoved { return }
            let next = haveMoved ? Self.watchInterval : ScenarioStage.pollInterval
            try await loop.sleep(until: min(end, loop.now + next))
        }
    }

    private mutating func observed() async throws -> ScenarioSummary {
        try await drawings.look(stage.client, at: stage.id)
        let view = try await stage.client.view(path, name: stage.id)
        let found = view.items("destinations").map(PhoneSummary.init)
        let phones = stage.phones.compactMap { name in
            found.first { $0.phone == name }.map { phone in
                var phone = phone
                phone.pictures = drawings.pictures(of: name)
                return phone
            }
        }
        return ScenarioSummary(scenario: stage.scenario.name, phones: phones)
    }

    // MARK: Bodies

    private var startBody: String {
        JSON.object { writer in
            writer.member("type", Self.type)
            writer.object("audience") { $0.array("devices", of: stage.phones) { $0.string($1) } }
            writer.member("attributes", JSON.emptyObject)
            writer.object("state") { $0.member("image", RunnerCat.frames[0]) }
            writer.object("alert") { writer in
                writer.member("title", "The cat is off")
                writer.member("body", "It runs until somebody stops it")
            }
            writer.member("relevance", 1.0)
        }.description
    }

    private func clipBody(clock: String) -> String {
        JSON.object { writer in
            writer.object("flipbook") { writer in
                writer.member("path", "/image")
                writer.array("frames", of: RunnerCat.frames) { $0.string($1) }
                writer.member("every", Self.every.text)
                writer.member("loop", "forever")
                writer.member("clock", clock)
            }
        }.description
    }
}
