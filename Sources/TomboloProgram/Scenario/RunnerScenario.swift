import TomboloCore
import TomboloCrypto
import TomboloJSON
import TomboloLoop

/// The scenario `runner`: a cat in the Dynamic Island of every phone, ten frames a second.
struct RunnerScenario: Sendable {
    static let type = "RunnerWidgetAttributes"
    static let every = Span.milliseconds(100)
    /// Time limit for the phones to show the last state after the end. A phone of the slowest class
    /// waits 15 s for a push, and again if the push is lost.
    static let convergenceTimeout = Duration.seconds(45)
    static let pollInterval = Duration.milliseconds(100)
    /// Interval between reads after every phone has moved, so that hours of it do not load the
    /// relay.
    static let watchInterval = Duration.seconds(5)

    private let client: RelayClient
    private let loop: EpollLoop
    private let activity: String
    private let devices: [String]
    private var drawings = PhoneDrawings()

    init(_ client: RelayClient, phones: Int, loop: EpollLoop) {
        self.client = client
        self.loop = loop
        // A new id, because a start with the id of an ended cat would restart that activity.
        activity = "runner-\(Hex.encode(RandomBytes.make(4)))"
        devices = (1...phones).map { "phone-\($0)" }
    }

    private var path: String { "/v1/activities/\(activity)" }

    /// Starts the cat, plays for `duration`, ends it, and waits for the last state on all phones.
    mutating func run(for duration: Span) async throws -> ScenarioSummary {
        try await begin()
        try await wait(until: loop.now + .nanoseconds(duration.nanoseconds))
        // A short run may end before a slow phone has drawn its second picture: wait for it.
        try await wait(until: loop.now + Self.convergenceTimeout, orMoved: true)
        _ = try await client.send(
            RelayRequest("POST", "/v1/activities/end", body: endBody), name: activity)
        return try await untilConverged()
    }

    /// Lets the cat run until `isStopped`, but at most for 8 hours, the maximum life of a card.
    mutating func stay(until isStopped: () -> Bool) async throws {
        try await begin()
        let over = loop.now + StayingScenario.cardLife
        while !isStopped(), loop.now < over {
            // The request keeps the connection open: the relay closes one that is idle for a
            // minute.
            _ = try await client.send(RelayRequest("GET", "/version"), name: nil)
            try await loop.sleep(for: Self.pollInterval)
        }
        try await StayingScenario.passOver {
            _ = try await client.send(
                RelayRequest("POST", "\(path)/end", body: Array("{}".utf8)), name: activity)
        }
    }

    /// Starts a cat. Only the newest cat runs; older ones stop at their present picture.
    private mutating func begin() async throws {
        try await Scenario(named: "runner")?.registerTypes(client)
        let running = "/v1/activities?status=active&type=\(Self.type)&limit=100"
        for one in try await client.view(running, name: nil).items("activities") {
            for clip in one.items("clips") where clip["playing"]?.bool == true {
                let names = [one["activity"], clip["clip"]].map {
                    PathText.escaped($0?.string ?? "")
                }
                let path = "/v1/activities/\(names[0])/clips/\(names[1])"
                _ = try await client.send(RelayRequest("DELETE", path), name: names[0])
            }
        }
        _ = try await client.send(
            RelayRequest("PUT", path, fields: [("if-none-match", "*")], body: startBody),
            name: activity)
        try await leaveApps()
        let clock = try await reportsPresence() ? "shown" : "wall"
        _ = try await client.send(
            RelayRequest("POST", "\(path)/clips", body: clipBody(clock: clock)), name: activity)
    }

    /// Sends the app to the background on simulated phones, because the cat only runs there. Real
    /// phones are not affected.
    private mutating func leaveApps() async throws {
        try await drawings.look(client, at: activity)
        guard drawings.areThere else { return }
        for device in devices {
            _ = try await client.send(
                RelayRequest("POST", "/v1/phones/\(device)", body: Array(#"{"do":"back"}"#.utf8)),
                name: device)
        }
    }

    /// True if a phone reports its presence. Then clips can pause while the app is in front.
    private func reportsPresence() async throws -> Bool {
        for device in devices {
            let view = try await client.view("/v1/devices/\(device)", name: device)
            if view["presence"] != nil { return true }
        }
        return false
    }

    /// Waits, and meanwhile reads the phones, to see each picture.
    private mutating func wait(until end: MonotonicInstant, orMoved: Bool = false) async throws {
        while loop.now < end {
            let summary = try await summary()
            let haveMoved = summary.phones.count == devices.count && summary.haveMoved
            if haveMoved, orMoved { return }
            let next = haveMoved ? Self.watchInterval : Self.pollInterval
            try await loop.sleep(until: min(end, loop.now + next))
        }
    }

    private mutating func untilConverged() async throws -> ScenarioSummary {
        let giveUpAt = loop.now + Self.convergenceTimeout
        while true {
            let summary = try await summary()
            if summary.converged || loop.now >= giveUpAt { return summary }
            try await loop.sleep(for: Self.pollInterval)
        }
    }

    private mutating func summary() async throws -> ScenarioSummary {
        try await drawings.look(client, at: activity)
        let view = try await client.view(path, name: activity)
        let found = view.items("destinations").map(PhoneSummary.init)
        let phones = devices.compactMap { name in
            found.first { $0.phone == name }.map { phone in
                var phone = phone
                phone.pictures = drawings.pictures(of: name)
                return phone
            }
        }
        return ScenarioSummary(scenario: "runner", phones: phones)
    }

    // MARK: Bodies

    private var startBody: [UInt8] {
        JSON.object { writer in
            writer.member("type", Self.type)
            writer.object("audience") { $0.array("devices", of: devices) { $0.string($1) } }
            writer.member("attributes", JSON.emptyObject)
            writer.object("state") { $0.member("image", RunnerCat.frames[0]) }
            writer.object("alert") { writer in
                writer.member("title", "The cat is off")
                writer.member("body", "It runs until somebody stops it")
            }
            writer.member("relevance", 1.0)
        }.bytes
    }

    private func clipBody(clock: String) -> [UInt8] {
        JSON.object { writer in
            writer.object("flipbook") { writer in
                writer.member("path", "/image")
                writer.array("frames", of: RunnerCat.frames) { $0.string($1) }
                writer.member("every", Self.every.text)
                writer.member("loop", "forever")
                writer.member("clock", clock)
            }
        }.bytes
    }

    private var endBody: [UInt8] {
        JSON.object { $0.object("where") { $0.member("type", Self.type) } }.bytes
    }
}
