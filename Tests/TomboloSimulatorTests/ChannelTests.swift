import TestSupport
import Testing
import TomboloCrypto

@testable import TomboloSimulator

/// One row: what is wrong with a request to the channel or broadcast API, and Apple's word for it.
struct SpoiledChannel: CustomTestStringConvertible, Sendable {
    var fault: String
    var reason: String
    var spoil: @Sendable (inout PushRequest) -> Void

    var testDescription: String { fault }

    init(
        _ fault: String, _ reason: String,
        _ spoil: @escaping @Sendable (inout PushRequest) -> Void
    ) {
        self.fault = fault
        self.reason = reason
        self.spoil = spoil
    }

    /// Of a broadcast that is right in all else.
    static let broadcasts: [SpoiledChannel] = [
        .init("a request id that is none", "BadMessageId") { $0.set("apns-request-id", "7") },
        .init("a repeated header", "DuplicateHeaders") { $0.fields.append(("apns-priority", "5")) },
        .init("no authorization", "MissingProviderToken") { $0.set("authorization", nil) },
        .init("a token that is none", "InvalidProviderToken") {
            $0.set("authorization", "bearer a.b.c")
        },
        .init("a suffix", "TopicDisallowed") { $0.path += ".push-type.liveactivity" },
        .init("another app", "TopicMismatch") { $0.path = "/4/broadcasts/apps/com.example.other" },
        .init("another path", "BadPath") { $0.path += "/more" },
        .init("GET", "MethodNotAllowed") { $0.method = "GET" },
        .init("no channel", "MissingChannelId") { $0.set("apns-channel-id", nil) },
        .init("a channel that is no base64", "BadChannelId") { $0.set("apns-channel-id", "?") },
        .init("a channel that nobody made", "ChannelNotRegistered") {
            $0.set("apns-channel-id", "AAAA")
        },
        .init("no push type", "MissingPushType") { $0.set("apns-push-type", nil) },
        .init("another push type", "InvalidPushType") { $0.set("apns-push-type", "alert") },
        .init("no priority", "BadPriority") { $0.set("apns-priority", nil) },
        .init("priority 010", "BadPriority") { $0.set("apns-priority", "010") },
        .init("priority 1", "BadPriority") { $0.set("apns-priority", "1") },
        .init("no expiration", "BadExpirationDate") { $0.set("apns-expiration", nil) },
        .init("an expiration where nothing is stored", "BadExpirationDate") {
            $0.set("apns-expiration", "1800000600")
        },
        .init("no body", "PayloadEmpty") { $0.body = [] },
        .init("a body that is no JSON", "BadRequestPayload") { $0.body = [UInt8]("{".utf8) },
        .init("5,121 bytes", "PayloadTooLarge") { $0.body = Spoiled.payload(5_121) },
    ]

    /// Of a creation that is right in all else.
    static let creations: [SpoiledChannel] = [
        .init("no body", "PayloadEmpty") { $0.body = [] },
        .init("a body that is no JSON", "BadRequestPayload") { $0.body = [UInt8]("{".utf8) },
        .init("an unknown attribute", "BadRequestParams") {
            $0.body = [UInt8](#"{"push-type":"LiveActivity","policy":1}"#.utf8)
        },
        .init("no push type", "MissingPushType") { $0.body = [UInt8]("{}".utf8) },
        .init("another push type", "InvalidPushType") {
            $0.body = [UInt8](#"{"push-type":"alert"}"#.utf8)
        },
        .init("an unknown policy", "BadRequestParams") {
            $0.body = [UInt8](#"{"push-type":"LiveActivity","message-storage-policy":2}"#.utf8)
        },
    ]
}

extension GatewayBench {
    mutating func channelAnswer(_ request: PushRequest) -> ChannelAnswer {
        judge.judgeChannel(
            request, on: &connection, at: now, freshID: { "fresh" },
            freshChannel: { RandomBytes.make(16) })
    }

    /// A request of the channel API; each test spoils one thing.
    func channelRequest(
        _ method: String, _ path: String, channel: String? = nil, body: String = ""
    ) -> PushRequest {
        request {
            $0.method = method
            $0.path = path
            $0.body = [UInt8](body.utf8)
            $0.set("apns-topic", nil)
            $0.set("apns-channel-id", channel)
        }
    }

    mutating func makeChannel(policy: Int = 0) -> String {
        let body = #"{"message-storage-policy":\#(policy),"push-type":"LiveActivity"}"#
        return channelAnswer(channelRequest("POST", Self.channelsPath, body: body)).channelID ?? ""
    }

    static let channelsPath = "/1/apps/com.example.app/channels"
    static let broadcastPath = "/4/broadcasts/apps/com.example.app"

    static func reason(_ answer: ChannelAnswer) -> String {
        String(decoding: answer.body, as: UTF8.self)
    }
}

@Suite struct ChannelTests {
    private static let update = #"{"aps":{"event":"update"}}"#

    @Test func `a channel is made, read, listed and deleted, and its id never comes back`() {
        var bench = GatewayBench()
        let ids = [bench.makeChannel(), bench.makeChannel(policy: 1)]
        #expect(Set(ids).count == 2 && ids.allSatisfy { Base64.decode($0)?.count == 16 })
        let read = bench.channelAnswer(
            bench.channelRequest("GET", GatewayBench.channelsPath, channel: ids[1]))
        #expect(
            GatewayBench.reason(read) == #"{"message-storage-policy":1,"push-type":"LiveActivity"}"#
        )
        let list = bench.channelAnswer(
            bench.channelRequest("GET", "/1/apps/com.example.app/all-channels"))
        #expect(GatewayBench.reason(list) == #"{"channels":["\#(ids[0])","\#(ids[1])"]}"#)
        let delete = bench.channelRequest("DELETE", GatewayBench.channelsPath, channel: ids[0])
        let statuses = [bench.channelAnswer(delete).status, bench.channelAnswer(delete).status]
        #expect(statuses == [204, 400])
    }

    @Test(arguments: SpoiledChannel.broadcasts)
    func `a broadcast that is wrong is refused with Apple's reason`(row: SpoiledChannel) {
        var bench = GatewayBench()
        let channel = bench.makeChannel()
        var request = bench.channelRequest(
            "POST", GatewayBench.broadcastPath, channel: channel, body: Self.update)
        let right = bench.channelAnswer(request)
        #expect(right.status == 200 && right.broadcast?.channelID == channel)
        row.spoil(&request)
        let answer = bench.channelAnswer(request)
        #expect(GatewayBench.reason(answer) == #"{"reason":"\#(row.reason)"}"#)
        #expect(answer.status == ChannelReason(rawValue: row.reason)?.status)
        #expect(answer.broadcast == nil)
    }

    @Test(arguments: SpoiledChannel.creations)
    func `a channel that is described wrongly is not made`(row: SpoiledChannel) {
        var bench = GatewayBench()
        var request = bench.channelRequest(
            "POST", GatewayBench.channelsPath, body: #"{"push-type":"liveactivity"}"#)
        #expect(bench.channelAnswer(request).status == 201)
        row.spoil(&request)
        let answer = bench.channelAnswer(request)
        #expect(GatewayBench.reason(answer) == #"{"reason":"\#(row.reason)"}"#)
    }

    @Test func `the ten-thousand-and-first channel is refused, and a deletion makes room`() {
        var bench = GatewayBench()
        let first = bench.makeChannel()
        for _ in 1..<ChannelRegistry.channelsMax { _ = bench.makeChannel() }
        #expect(bench.makeChannel() == "")
        let request = bench.channelRequest(
            "POST", GatewayBench.channelsPath, body: #"{"push-type":"LiveActivity"}"#)
        let refused = bench.channelAnswer(request)
        #expect(GatewayBench.reason(refused).contains("CannotCreateChannelConfig"))
        _ = bench.channelAnswer(
            bench.channelRequest("DELETE", GatewayBench.channelsPath, channel: first))
        #expect(bench.makeChannel() != "")
    }

    @Test func `an app without the capability, and a key of another app, are refused`() {
        var bench = GatewayBench()
        bench.judge.rules.broadcasts = false
        let request = bench.channelRequest(
            "POST", GatewayBench.channelsPath, body: #"{"push-type":"LiveActivity"}"#)
        #expect(GatewayBench.reason(bench.channelAnswer(request)).contains("FeatureNotEnabled"))
        bench.judge.rules.broadcasts = true
        bench.judge.rules.keys[0].bundleIDs = ["com.example.other"]
        #expect(GatewayBench.reason(bench.channelAnswer(request)).contains("TopicMismatch"))
    }

    @Test func `a policy that stores takes an expiration, and 5,120 bytes are taken`() {
        var bench = GatewayBench()
        let channel = bench.makeChannel(policy: 1)
        var request = bench.channelRequest(
            "POST", GatewayBench.broadcastPath, channel: channel, body: Self.update)
        request.set("apns-expiration", "1800000600")
        request.body = Spoiled.payload(5_120)
        #expect(bench.channelAnswer(request).status == 200)
    }

    @Test func `a card on a channel follows broadcasts without an update token`() {
        var bench = PhoneBench()
        bench.start(extra: #","input-push-channel":"AAAA""#)
        #expect(bench.updateTokens.isEmpty)
        func broadcast(_ channel: String, _ event: String, _ image: String) {
            let payload =
                #"{"aps":{"timestamp":\#(bench.now.seconds),"event":"\#(event)","#
                + #""content-state":{"image":"\#(image)"}}}"#
            let sent = AcceptedBroadcast(
                channelID: channel, bundleID: "com.example.app", priority: 10,
                payload: [UInt8](payload.utf8), requestID: "id")
            bench.perform { $0.receive(sent, at: $1) }
        }
        broadcast("BBBB", "update", "other")
        #expect(bench.shown == #"{"image":"a"}"#)
        broadcast("AAAA", "update", "b")
        #expect(bench.shown == #"{"image":"b"}"#)
        bench.setOnline(false)
        broadcast("AAAA", "update", "missed")
        bench.setOnline(true)
        broadcast("AAAA", "end", "c")
        #expect(bench.shown == #"{"image":"c"}"#)
        #expect(bench.phone.cards[0].phase.name == "ended")
    }

    @Test func `a channel that stores keeps its newest message for a phone that is offline`() {
        var bench = PhoneBench()
        bench.start(extra: #","input-push-channel":"AAAA""#)
        func broadcast(_ image: String, stored: Bool = true, until: Duration = .seconds(7_200)) {
            let payload =
                #"{"aps":{"timestamp":\#(bench.now.seconds),"event":"update","#
                + #""content-state":{"image":"\#(image)"}}}"#
            var sent = AcceptedBroadcast(
                channelID: "AAAA", bundleID: "com.example.app", priority: 10,
                payload: [UInt8](payload.utf8), requestID: "id")
            sent.isStored = stored
            sent.expiration = .until((bench.now + until).seconds)
            sent.acceptedAt = bench.now
            bench.perform { $0.receive(sent, at: $1) }
        }
        bench.setOnline(false)
        broadcast("missed", stored: false)
        broadcast("b")
        broadcast("c")
        #expect(bench.shown == #"{"image":"a"}"#)
        bench.setOnline(true)
        #expect(bench.shown == #"{"image":"c"}"#)
        bench.setOnline(false)
        broadcast("late", until: .seconds(5))
        bench.pass(.seconds(6))
        bench.setOnline(true)
        #expect(bench.shown == #"{"image":"c"}"#)
    }

    @Test func `an activity does not start on a channel that is not there`() throws {
        var gateway = GatewayBench()
        let channel = gateway.makeChannel()
        func start(_ channel: String) throws -> AcceptedPush {
            let request = gateway.request {
                $0.body = [UInt8](
                    #"{"aps":{"event":"start","input-push-channel":"\#(channel)"}}"#.utf8)
            }
            return try gateway.answer(request).result.get()
        }
        #expect(try !start(channel).startsOnUnknownChannel)
        #expect(try start("AAAA").startsOnUnknownChannel)
        var bench = PhoneBench()
        bench.startsOnUnknownChannel = true
        bench.start(extra: #","input-push-channel":"AAAA""#)
        #expect(bench.reasons == [.channelUnknown])
        #expect(bench.phone.cards.isEmpty)
    }

    @Test func `every reason of Apple's can be provoked by a broadcast, with its status`()
        async throws
    {
        try await SimulatorBench.run {
            $0.control = (host: "127.0.0.1", port: 0)
        } _: { bench in
            let (_, id, headers) = try await bench.makeChannel()
            for reason in ChannelReason.allCases {
                let rule = #"{"to":"broadcast","reason":"\#(reason.rawValue)"}"#
                #expect(try await bench.control("PUT", "/v1/faults", rule).hasSuffix("200"))
                let answer = try await bench.channelCall(
                    "POST", GatewayBench.broadcastPath, headers, Self.update)
                #expect(answer.hasSuffix("\(reason.status)"), "\(reason)")
                #expect(answer.contains(#"{"reason":"\#(reason.rawValue)"}"#))
            }
            let rule = #"{"to":"channels","status":500,"reason":"InternalServerError"}"#
            _ = try await bench.control("PUT", "/v1/faults", rule)
            let delete = try await bench.channelCall(
                "DELETE", GatewayBench.channelsPath, ["apns-channel-id: \(id)"], "")
            #expect(delete.hasSuffix("500"))
            _ = try await bench.control("DELETE", "/v1/faults", "")
            let sent = try await bench.channelCall(
                "POST", GatewayBench.broadcastPath, headers, Self.update)
            #expect(sent.hasSuffix("200"), "what was answered with an error was not done")
        }
    }

    @Test func `curl makes a channel and broadcasts on it`() async throws {
        try await SimulatorBench.run { bench in
            let (create, id, headers) = try await bench.makeChannel()
            #expect(create.hasSuffix("201"))
            let sent = try await bench.channelCall(
                "POST", GatewayBench.broadcastPath, headers, Self.update)
            #expect(sent.hasSuffix("200") && sent.contains("apns-request-id: "))
            let gone = try await bench.channelCall(
                "DELETE", GatewayBench.channelsPath, ["apns-channel-id: \(id)"], "")
            #expect(gone.hasSuffix("204"))
            let late = try await bench.channelCall(
                "POST", GatewayBench.broadcastPath, headers, Self.update)
            #expect(late.contains("ChannelNotRegistered") && late.hasSuffix("400"))
        }
    }
}

extension SimulatorBench {
    /// Makes a channel: the whole answer, the channel's id, and the fields of a broadcast on it.
    func makeChannel() async throws -> (answer: String, id: Substring, headers: [String]) {
        let create = try await channelCall(
            "POST", GatewayBench.channelsPath, [], #"{"push-type":"LiveActivity"}"#)
        let line = create.split(separator: "\r\n").first { $0.hasPrefix("apns-channel-id: ") }
        let id = try #require(line?.dropFirst("apns-channel-id: ".count))
        let headers = [
            "apns-channel-id: \(id)", "apns-push-type: liveactivity", "apns-priority: 5",
            "apns-expiration: 0",
        ]
        return (create, id, headers)
    }

    /// A request of the channel API by `curl --http2`; the whole answer, and last its status.
    func channelCall(
        _ method: String, _ path: String, _ headers: [String], _ body: String
    ) async throws -> String {
        var arguments = ["--silent", "--http2", "--max-time", "120", "--cacert", caFile, "-i"]
        arguments += ["-X", method, "-w", "%{http_code}"]
        for header in headers + ["authorization: bearer \(providerToken)"] {
            arguments += ["-H", header]
        }
        if !body.isEmpty { arguments += ["--data-binary", body] }
        return try await SubprocessOutput(
            "curl", arguments + [simulator.url + path], on: loop, withErrors: false
        ).wait()
    }
}
