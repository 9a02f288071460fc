import Testing
import TomboloCore
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

/// One write, told with `dry_run` and then without.
struct Write: Sendable {
    let operation: TomboloServer.Operation
    let path: String
    var body: String?
    /// Members of the real answer that only doing it gives.
    var onlyDone: Set<String> = []
    /// The answer is of another schema: what the push would be.
    var isCommand = false

    init(
        _ operation: TomboloServer.Operation, _ path: String, _ body: String? = nil,
        onlyDone: Set<String> = []
    ) {
        (self.operation, self.path, self.body) = (operation, path, body)
        self.onlyDone = onlyDone
    }

    /// An event, whose dry run tells of its push.
    static func event(
        _ operation: TomboloServer.Operation, _ path: String, _ body: String? = nil
    ) -> Write {
        var write = Write(operation, path, body)
        write.isCommand = true
        return write
    }

    /// In an order in which each is right after those before it.
    static let all: [Write] = [
        .init(.putType, "/v1/types/Cat", #"{"state":{"properties":{"n":{"type":"integer"}}}}"#),
        .init(.retryDeadLetters, "/v1/dead-letters/retry", #"{"where":{"activity":"cat"}}"#),
        .init(.retryDelivery, "/v1/deliveries/REFUSED/retry"),
        .event(.startActivity, "/v1/activities/dog", #"{"type":"Dog","state":{"n":1}}"#),
        .event(.updateActivity, "/v1/activities/dog", #"{"state":{"n":2}}"#),
        .event(
            .playClip, "/v1/activities/dog/clips",
            #"{"flipbook":{"path":"/n","frames":[1,2],"every":"10m","loop":"forever"}}"#),
        .event(.stopClip, "/v1/activities/dog/clips/clip_3"),
        .event(.appendEvents, "/v1/events", #"{"activity":"dog","do":"update","state":{"n":3}}"#),
        .event(.endActivity, "/v1/activities/dog/end", "{}"),
        .init(
            .eraseActivity, "/v1/activities/dog/erase",
            onlyDone: ["events", "facts", "activities", "out_of_file"]),
        .init(.reportActivity, "/v1/devices/phone-1/activities/cat", #"{"phase":"stale"}"#),
        .init(
            .reportPresence, "/v1/devices/phone-1/presence",
            #"{"app":"com.example.app","phase":"active"}"#),
        .init(
            .postAction, "/v1/devices/phone-1/actions",
            #"{"activity":"cat","at":"2026-11-18T11:06:40Z","expires":"10m"}"#,
            onlyDone: ["action", "expires_at"]),
        .init(.endActivities, "/v1/activities/end", #"{"where":{"type":"Emu"}}"#),
        .init(.registerDevice, "/v1/devices/phone-2", #"{"os":"26.1"}"#),
        .init(.registerToken, "/v1/devices/phone-2/tokens/widget", #"{"token":"aa11"}"#),
        .init(.reloadTimeline, "/v1/timelines/any/reload", #"{"device":"phone-2"}"#),
        .init(.putTimeline, "/v1/timelines/any", #"{"subject":{"device":"phone-2"},"content":{}}"#),
        .init(.deleteTimeline, "/v1/timelines/any?device=phone-2"),
        .init(
            .reconcileTokens, "/v1/devices/phone-2/tokens",
            #"{"tokens":{"control:lock":{"token":"bb22"}}}"#),
        .init(.reloadControl, "/v1/controls/lock/reload", #"{"device":"phone-2"}"#),
        .init(.deleteToken, "/v1/devices/phone-2/tokens/control:lock", #"{"token":"bb22"}"#),
        .init(.deleteDevice, "/v1/devices/phone-2"),
        .init(
            .eraseDevice, "/v1/devices/phone-1/erase",
            onlyDone: ["events", "facts", "activities", "out_of_file"]),
        .init(.putChannel, "/v1/channels/final", "{}", onlyDone: ["id", "created_at"]),
        .init(.deleteChannel, "/v1/channels/final"),
        .init(.createPause, "/v1/pauses", #"{"all":true}"#, onlyDone: ["id"]),
        .init(.deletePause, "/v1/pauses/pause_1"),
        .init(
            .mintKey, "/v1/keys", #"{"scopes":["observe"]}"#,
            onlyDone: ["id", "key", "created_at"]),
        .init(.deleteKey, "/v1/keys/KEY"),
        .init(
            .rotateKey, "/v1/keys/KEY/rotate", #"{"grace":"5m"}"#,
            onlyDone: ["id", "key", "created_at"]),
        .init(.reloadConfiguration, "/v1/configuration/reload"),
        .init(.retryUpstream, "/v1/upstreams/com.example.app/retry"),
        .init(.actOnPhone, "/v1/phones/phone-1", #"{"do":"lock"}"#),
        .init(.setScenario, "/v1/scenarios/door", #"{"runs":true}"#),
    ]
}

/// Every write of the API with `dry_run`: it is checked as ever, tells what would be, and leaves
/// everything as it was.
@Suite struct DryRunWalkTests {
    /// Operations with a body that refuse `dry_run`, each with its reason.
    private static let exceptions: [TomboloServer.Operation: String] = [
        .explain: "it changes nothing: a token does not belong into a URL"
    ]

    @Test func `every write of the description takes dry_run, or is a named exception`() {
        let writes = RouteTable.routes.filter { $0.method != "GET" }
        #expect(writes.count == 36)
        for route in writes where Self.exceptions[route.operation] == nil {
            #expect(route.query.contains("dry_run"), "\(route.method) \(route.path.text)")
        }
        #expect(
            Set(Write.all.map(\.operation)).union(Self.exceptions.keys)
                == Set(writes.map(\.operation)))
        for route in RouteTable.routes where route.method == "GET" {
            #expect(!route.query.contains("dry_run"), "\(route.path.text) changes nothing anyway")
        }
    }

    @Test func `a dry run of each write answers as the write would, and changes nothing`()
        async throws
    {
        let shelf = ChannelShelf()
        try await withDoors(channels: shelf) { doors in
            doors.doors.phoneWall = PhoneWall(tenant: DoorsUnderTest.tenant, control: PhoneShelf())
            // Its trace is a key more.
            doors.doors.reload = { isDryRun in
                // Where no key is made the walk sees no trace of it.
                if !isDryRun { _ = try? await doors.mint("observe") }
                return [OperatorNote(.info, .configurationApplied, "read again")]
            }
            try await Self.fill(doors)
            for write in Write.all {
                let before = try await Self.settled(doors, shelf)
                let path = write.path.replacing("KEY", with: try await Self.anotherKey(doors))
                    .replacing("REFUSED", with: try await Self.refused(doors))
                let method = try #require(
                    RouteTable.routes.first { $0.operation == write.operation }
                ).method
                let mark = path.contains("?") ? "&" : "?"
                let tried = try await doors.call(method, path + mark + "dry_run=true", write.body)
                #expect(tried.status == 200, "\(write.operation): \(tried.text)")
                #expect(tried.text.contains(#""dry_run":true"#), "\(write.operation)")
                let after = try await Self.look(doors, shelf)
                #expect(after == before, "\(write.operation) has changed something")
                let done = try await doors.call(method, path, write.body)
                #expect((200...202).contains(done.status), "\(write.operation): \(done.text)")
                // The upstream is open. `UpstreamDoorTests` closes it.
                let changes = write.operation != .retryUpstream
                #expect(
                    try await Self.changed(from: before, doors, shelf) == changes,
                    "\(write.operation) has no effect that this test would see")
                guard !write.isCommand else { continue }
                let names = Self.names(try json(tried)).subtracting(["dry_run"])
                #expect(
                    names.union(write.onlyDone) == Self.names(try json(done)),
                    "\(write.operation)")
            }
        }
    }

    @Test func `a dry run is refused as its write would be`() async throws {
        try await withDoors(channels: ChannelShelf()) { doors in
            try await Self.fill(doors)
            let refused: [(method: String, path: String, body: String?)] = [
                ("PUT", "/v1/devices/phone-9", #"{"app":"com.example.other"}"#),
                ("PUT", "/v1/devices/phone-9", #"{"color":"red"}"#),
                ("PUT", "/v1/devices/phone-9/tokens/widget", #"{"token":"aa"}"#),
                ("PUT", "/v1/devices/phone-1/tokens/widget", #"{"token":"xyz"}"#),
                ("PUT", "/v1/devices/phone-9/tokens", #"{"tokens":{}}"#),
                ("PUT", "/v1/devices/phone-9/presence", #"{"phase":"active"}"#),
                ("PUT", "/v1/devices/phone-9/activities/cat", #"{"phase":"stale"}"#),
                ("DELETE", "/v1/devices/phone-9", nil),
                ("DELETE", "/v1/devices/phone-9/tokens/widget", #"{"token":"aa"}"#),
                ("POST", "/v1/activities/end", #"{"where":{}}"#),
                ("POST", "/v1/activities/cat/erase", nil),
                ("POST", "/v1/activities/none/erase", nil),
                ("POST", "/v1/timelines/any/reload", "{}"),
                ("POST", "/v1/dead-letters/retry", #"{"id":"dead_99"}"#),
                ("POST", "/v1/deliveries/dlv_99/retry", nil),
                ("PUT", "/v1/channels/final", #"{"app":"com.example.other"}"#),
                ("DELETE", "/v1/channels/none", nil),
                ("POST", "/v1/pauses", "{}"),
                ("DELETE", "/v1/pauses/pause_9", nil),
                ("POST", "/v1/keys", #"{"scopes":["everything"]}"#),
                ("DELETE", "/v1/keys/none", nil),
                ("POST", "/v1/keys/none/rotate", nil),
                ("POST", "/v1/configuration/reload", nil),
                ("POST", "/v1/upstreams/com.example.other/retry", nil),
            ]
            for (method, path, body) in refused {
                let tried = try await doors.call(method, path + "?dry_run=true", body)
                let done = try await doors.call(method, path, body)
                #expect(tried.status == done.status, "\(method) \(path)")
                #expect(
                    try json(tried)["detail"]?.string == json(done)["detail"]?.string,
                    "\(method) \(path)")
                #expect((400..<500).contains(tried.status), "\(method) \(path): \(tried.text)")
            }
            let unclear = try await doors.call("DELETE", "/v1/devices/phone-1?dry_run=maybe")
            #expect(unclear.status == 400)
            #expect(try await doors.call("GET", "/v1/devices/phone-1").status == 200)
        }
    }

    // MARK: The world and a look at it

    /// A phone with two cards, of each of which Apple has refused an update permanently.
    static func fill(_ doors: DoorsUnderTest) async throws {
        try await doors.registerPhone()
        for (activity, type) in [("cat", "RunnerWidgetAttributes"), ("emu", "Emu")] {
            try await doors.putToken("activity:\(activity)", "cc33")
            let body = #"{"type":"\#(type)","audience":{"device":"phone-1","start":"adopt"},"#
            _ = try await doors.call(
                "PUT", "/v1/activities/\(activity)", body + #""state":{"n":1}}"#,
                fields: ["Prefer: wait=2"])
        }
        doors.sender.refusal = "BadTopic"
        for activity in ["cat", "emu"] {
            _ = try await doors.call(
                "PATCH", "/v1/activities/\(activity)", #"{"state":{"n":2}}"#,
                fields: ["Prefer: wait=2"])
        }
        doors.sender.refusal = nil
        _ = try await doors.mint("observe")
    }

    /// The delivery of the emu that was refused.
    static func refused(_ doors: DoorsUnderTest) async throws -> String {
        let list = try json(
            try await doors.call("GET", "/v1/activities/emu/deliveries?result=rejected"))
        let last = list["deliveries"]?.elements.first { _ in true }
        return last?["id"]?.string ?? "none"
    }

    static func anotherKey(_ doors: DoorsUnderTest) async throws -> String {
        let keys = try json(try await doors.call("GET", "/v1/keys"))["keys"]
        let other = keys?.elements.first { Array($0["scopes"]!.elements).count == 1 }
        return try #require(other?["id"]?.string)
    }

    /// All that is there to be seen, as text; what Apple was asked comes with it.
    private static func look(
        _ doors: DoorsUnderTest, _ shelf: ChannelShelf
    ) async throws -> String {
        let paths = [
            "/v1/log?limit=1000", "/v1/log?fact=action", "/v1/log?fact=upstream.retried",
            "/v1/devices/phone-1",
            "/v1/devices/phone-2", "/v1/types/Cat",
            "/v1/channels", "/v1/pauses", "/v1/keys", "/v1/dead-letters",
            "/v1/activities/cat/deliveries", "/v1/activities/cat", "/v1/phones",
            "/v1/timelines",
        ]
        var arguments: [String] = []
        for path in paths {
            if !arguments.isEmpty { arguments.append("--next") }
            arguments += ["-sS", "-H", "Authorization: Bearer \(doors.key)", doors.origin + path]
        }
        let text = try await Curl(arguments, on: doors.loop).wait()
        // A trace id is new each time.
        let lines = text.split(separator: "\n").map { line in
            line.contains("trace_id") ? line.prefix { $0 != "," } : line
        }
        return lines.filter { !$0.lowercased().hasPrefix("date:") }.joined(separator: "\n")
            + "\n\(doors.sender.pushes.count) pushes, \(shelf.asked) asked"
    }

    /// The same when nothing more comes of what was done before.
    private static func settled(
        _ doors: DoorsUnderTest, _ shelf: ChannelShelf
    ) async throws -> String {
        var last = try await look(doors, shelf)
        for _ in 1...50 {
            let now = try await look(doors, shelf)
            if now == last { return now }
            last = now
        }
        Issue.record("it does not come to rest")
        return last
    }

    private static func changed(
        from before: String, _ doors: DoorsUnderTest, _ shelf: ChannelShelf
    ) async throws -> Bool {
        for _ in 1...50 where try await look(doors, shelf) != before { return true }
        return false
    }

    /// The names of all members, also of those within.
    private static func names(_ view: JSONView) -> Set<String> {
        Set(view.members.map(\.name))
    }
}
