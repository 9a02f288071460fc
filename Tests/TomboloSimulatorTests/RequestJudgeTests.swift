import Testing
import TomboloCrypto

@testable import TomboloSimulator

/// One row: what is wrong with a request that is right in all else, and what Apple says to it.
struct Spoiled: CustomTestStringConvertible, Sendable {
    var fault: String
    var status: Int
    var reason: String
    var spoil: @Sendable (inout PushRequest) -> Void

    init(
        _ fault: String, _ status: Int, _ reason: String,
        _ spoil: @escaping @Sendable (inout PushRequest) -> Void
    ) {
        self.fault = fault
        self.status = status
        self.reason = reason
        self.spoil = spoil
    }

    var testDescription: String { fault }

    static let rows: [Spoiled] = [
        .init("apns-id in capitals", 400, "BadMessageId") {
            $0.set("apns-id", "EC1BF194-B3B2-424A-89A9-5A918A6E6B5D")
        },
        .init("apns-id without dashes", 400, "BadMessageId") {
            $0.set("apns-id", "ec1bf194b3b2424a89a95a918a6e6b5d")
        },
        .init("a repeated header", 400, "DuplicateHeaders") {
            $0.fields.append(("apns-priority", "10"))
        },
        .init("GET", 405, "MethodNotAllowed") { $0.method = "GET" },
        .init("another path", 404, "BadPath") { $0.path = "/4/device/a1f0" },
        .init("a path below the token", 404, "BadPath") { $0.path += "/x" },
        .init("no token", 400, "MissingDeviceToken") { $0.path = "/3/device/" },
        .init("no token, no slash", 400, "MissingDeviceToken") { $0.path = "/3/device" },
        .init("no topic", 400, "MissingTopic") { $0.set("apns-topic", nil) },
        .init("an empty topic", 400, "MissingTopic") { $0.set("apns-topic", "") },
        .init("a topic with a space", 400, "BadTopic") { $0.set("apns-topic", "com.example app") },
        .init("a topic without its suffix", 400, "BadTopic") {
            $0.set("apns-topic", GatewayBench.bundleID)
        },
        .init("a doubled suffix", 400, "TopicDisallowed") {
            $0.set("apns-topic", GatewayBench.topic + ".push-type.liveactivity")
        },
        .init("an unknown bundle", 400, "TopicDisallowed") {
            $0.set("apns-topic", "com.example.other.push-type.liveactivity")
        },
        .init("a collapse id of 65 bytes", 400, "BadCollapseId") {
            $0.set("apns-collapse-id", String(repeating: "é", count: 32) + "x")
        },
        .init("priority 7", 400, "BadPriority") { $0.set("apns-priority", "7") },
        .init("priority 010", 400, "BadPriority") { $0.set("apns-priority", "010") },
        .init("priority ten", 400, "BadPriority") { $0.set("apns-priority", "ten") },
        .init("priority 1 for a Live Activity", 400, "BadPriority") {
            $0.set("apns-priority", "1")
        },
        .init("an unknown push type", 400, "InvalidPushType") {
            $0.set("apns-push-type", "live-activity")
        },
        .init("no push type for a suffixed topic", 400, "InvalidPushType") {
            $0.set("apns-push-type", nil)
        },
        .init("a date that is none", 400, "BadExpirationDate") {
            $0.set("apns-expiration", "tomorrow")
        },
        .init("a negative date", 400, "BadExpirationDate") { $0.set("apns-expiration", "-1") },
        .init("a token of odd length", 400, "BadDeviceToken") { $0.path = "/3/device/a1f" },
        .init("a token that is not hex", 400, "BadDeviceToken") { $0.path = "/3/device/zz" },
        .init("an unknown token", 400, "BadDeviceToken") { $0.path = "/3/device/00ff" },
        .init("a token of another topic", 400, "DeviceTokenNotForTopic") {
            $0.set("apns-topic", GatewayBench.bundleID + ".push-type.widgets")
            $0.set("apns-push-type", "widgets")
        },
        .init("no authorization", 403, "MissingProviderToken") { $0.set("authorization", nil) },
        .init("basic authorization", 403, "MissingProviderToken") {
            $0.set("authorization", "basic abc")
        },
        .init("bearer nothing", 403, "MissingProviderToken") { $0.set("authorization", "bearer ") },
        .init("bearer nonsense", 403, "InvalidProviderToken") {
            $0.set("authorization", "bearer a.b.c")
        },
        .init("an empty body", 400, "PayloadEmpty") { $0.body = [] },
        .init("a body that is no JSON", 400, "PayloadEmpty") { $0.body = [UInt8]("{\"aps\"".utf8) },
        .init("a body that is a list", 400, "PayloadEmpty") { $0.body = [UInt8]("[]".utf8) },
        .init("a body of 4,097 bytes", 413, "PayloadTooLarge") { $0.body = payload(4_097) },
    ]

    /// A JSON object of that many bytes.
    static func payload(_ count: Int) -> [UInt8] {
        [UInt8]("{\"aps\":\"".utf8) + [UInt8](repeating: UInt8(ascii: "x"), count: count - 10)
            + [UInt8]("\"}".utf8)
    }
}

@Suite struct RequestJudgeTests {
    @Test(arguments: Spoiled.rows)
    func `what is wrong is refused with Apple's status and reason`(row: Spoiled) {
        var bench = GatewayBench()
        let refusal = bench.refusal(bench.request(row.spoil))
        #expect(refusal?.reason.rawValue == row.reason)
        #expect(refusal?.reason.status == row.status)
        #expect(bench.refusal(bench.request()) == nil)
    }

    @Test func `what is right is accepted, with its id and one of Apple's own`() throws {
        var bench = GatewayBench()
        let id = "ec1bf194-b3b2-424a-89a9-5a918a6e6b5d"
        let answer = bench.answer(bench.request { $0.set("apns-id", id) })
        let push = try answer.result.get()
        #expect(answer.apnsID == id)
        #expect(answer.uniqueID != nil)
        #expect(push.token == GatewayBench.token)
        #expect(push.priority == 10)
        #expect(push.expiration == .immediate)
        #expect(bench.connection.hasAcceptedRequest)
    }

    @Test func `an id is made where none came, also for a refusal`() {
        var bench = GatewayBench()
        #expect(RequestJudge.isCanonicalUUID(bench.answer(bench.request()).apnsID))
        #expect(
            RequestJudge.isCanonicalUUID(bench.answer(bench.request { $0.method = "PUT" }).apnsID))
    }

    @Test func `only the sandbox tells a unique id`() {
        var bench = GatewayBench()
        bench.judge.rules.environment = .production
        bench.judge.tokens.issue(
            GatewayBench.token, topic: .liveActivity(GatewayBench.bundleID),
            environment: .production, limit: nil, at: bench.now)
        #expect(bench.answer(bench.request()).uniqueID == nil)
        #expect(bench.refusal(bench.request()) == nil)
    }

    @Test func `a token of the other environment is a bad one`() {
        var bench = GatewayBench()
        bench.judge.rules.environment = .production
        #expect(bench.refusal(bench.request())?.reason == .badDeviceToken)
    }

    @Test func `what is at the limit passes`() {
        var bench = GatewayBench()
        let refusal = bench.refusal(
            bench.request {
                $0.body = Spoiled.payload(4_096)
                $0.set("apns-collapse-id", String(repeating: "é", count: 32))
                $0.set("apns-priority", nil)
                $0.set("apns-expiration", nil)
                $0.path = "/3/device/" + GatewayBench.token.uppercased()
            })
        #expect(refusal == nil)
    }

    @Test func `a retired token answers 410 and since when`() {
        var bench = GatewayBench()
        bench.judge.tokens.retire(GatewayBench.token, at: GatewayBench.now + .milliseconds(1_500))
        bench.judge.tokens.retire(
            GatewayBench.token, reason: .expiredToken, at: GatewayBench.now + .seconds(9))
        let refusal = bench.refusal(bench.request())
        #expect(refusal == Refusal(.unregistered, timestamp: 1_800_000_001_500))
        #expect(refusal?.reason.status == 410)
        let body = "{\"reason\":\"Unregistered\",\"timestamp\":1800000001500}"
        #expect(refusal.map { String(decoding: $0.body, as: UTF8.self) } == body)
    }

    @Test func `too many requests to one token are refused until it has rested`() {
        var bench = GatewayBench()
        for _ in 0..<100 { #expect(bench.refusal(bench.request()) == nil) }
        #expect(bench.refusal(bench.request())?.reason == .tooManyRequests)
        bench.now = bench.now + .milliseconds(100)
        #expect(bench.refusal(bench.request()) == nil)
    }

    @Test func `any well-formed token is a phone where that is wished, and none gets a 429`() {
        var bench = GatewayBench()
        bench.judge.rules.acceptsAnyToken = true
        #expect(bench.refusal(bench.request { $0.path = "/3/device/00ff" }) == nil)
        #expect(
            bench.refusal(bench.request { $0.path = "/3/device/00f" })?.reason == .badDeviceToken)
        for _ in 0..<200 { #expect(bench.refusal(bench.request()) == nil) }
    }

    @Test(arguments: PushType.allCases)
    func `each push type goes with its own topic`(type: PushType) throws {
        var bench = GatewayBench()
        bench.judge.rules.acceptsAnyToken = true
        let request = bench.request {
            $0.set("apns-topic", GatewayBench.bundleID + (type.topicSuffix ?? ""))
            $0.set("apns-push-type", type.rawValue)
            $0.set("apns-priority", "5")
            $0.path = "/3/device/00ff"
        }
        let refusal = bench.refusal(request)
        #expect(refusal?.reason == (type == .mdm ? .badTopic : nil))
    }

    @Test func `a background push goes at 5 only, a VoIP push may hold 5,120 bytes`() {
        var bench = GatewayBench()
        bench.judge.rules.acceptsAnyToken = true
        let background = bench.request {
            $0.set("apns-topic", GatewayBench.bundleID)
            $0.set("apns-push-type", "background")
            $0.path = "/3/device/00ff"
        }
        #expect(bench.refusal(background)?.reason == .badPriority)
        var voip = background
        voip.set("apns-topic", GatewayBench.bundleID + ".voip")
        voip.set("apns-push-type", "voip")
        voip.body = Spoiled.payload(5_120)
        #expect(bench.refusal(voip) == nil)
        voip.body = Spoiled.payload(5_121)
        #expect(bench.refusal(voip)?.reason == .payloadTooLarge)
    }
}
