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
        let running = try await client.send(
            RelayRequest("GET", "/v1/activities?status=active&type=\(Self.type)&limit=100"),
            name: nil)
        for one in try running.document().root["activities"]?.elements.map({ $0 }) ?? [] {
            for clip in one["clips"]?.elements.map({ $0 }) ?? [] where clip["playing"]?.bool == true
            {
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
            let answer = try await client.send(
                RelayRequest("GET", "/v1/devices/\(device)"), name: device)
            if try answer.document().root["presence"] != nil { return true }
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
        let answer = try await client.send(RelayRequest("GET", path), name: activity)
        let destinations = try answer.document().root["destinations"]
        let found = (destinations.map { Array($0.elements) } ?? []).map(PhoneSummary.init)
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
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("type", Self.type)
        writer.name("audience")
        writer.beginObject()
        writer.name("devices")
        writer.beginArray()
        for device in devices { writer.string(device) }
        writer.endArray()
        writer.endObject()
        writer.name("attributes")
        writer.raw(JSON.emptyObject)
        writer.name("state")
        writer.beginObject()
        writer.member("image", RunnerCat.frames[0])
        writer.endObject()
        writer.name("alert")
        writer.beginObject()
        writer.member("title", "The cat is off")
        writer.member("body", "It runs until somebody stops it")
        writer.endObject()
        writer.member("relevance", 1.0)
        writer.endObject()
        return writer.bytes
    }

    private func clipBody(clock: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("flipbook")
        writer.beginObject()
        writer.member("path", "/image")
        writer.name("frames")
        writer.beginArray()
        for frame in RunnerCat.frames { writer.string(frame) }
        writer.endArray()
        writer.member("every", Self.every.text)
        writer.member("loop", "forever")
        writer.member("clock", clock)
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }

    private var endBody: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        writer.name("where")
        writer.beginObject()
        writer.member("type", Self.type)
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }
}
