import TestSupport
import Testing
import TomboloAPNs
import TomboloCore
import TomboloJSON

struct APNsAnswerTests {
    /// Apple's table, written a second time: status, reason, radius, whether the connection goes.
    static let table: [(Int, String, BlastRadius, Bool)] = [
        (400, "BadCollapseId", .push, false), (400, "BadDeviceToken", .tokenMisplaced, false),
        (400, "BadExpirationDate", .push, false), (400, "BadMessageId", .push, false),
        (400, "BadPriority", .push, false), (400, "BadTopic", .topic, false),
        (400, "DeviceTokenNotForTopic", .tokenMisplaced, false),
        (400, "DuplicateHeaders", .push, false), (400, "IdleTimeout", .connection, true),
        (400, "InvalidPushType", .push, false), (400, "MissingDeviceToken", .push, false),
        (400, "MissingTopic", .topic, false), (400, "PayloadEmpty", .push, false),
        (400, "TopicDisallowed", .topic, false), (403, "BadCertificate", .providerToken, true),
        (403, "BadCertificateEnvironment", .providerToken, true),
        (403, "BadEnvironmentKeyIdInToken", .providerToken, true),
        (403, "BadEnvironmentKeyInToken", .providerToken, true),
        (403, "ExpiredProviderToken", .providerToken, true),
        (403, "Forbidden", .providerToken, true),
        (403, "InvalidProviderToken", .providerToken, true),
        (403, "MissingProviderToken", .providerToken, true),
        (403, "UnrelatedKeyIdInToken", .connection, true), (404, "BadPath", .push, false),
        (405, "MethodNotAllowed", .push, false), (410, "ExpiredToken", .tokenGone, false),
        (410, "Unregistered", .tokenGone, false), (413, "PayloadTooLarge", .push, false),
        (429, "TooManyProviderTokenUpdates", .connection, true),
        (429, "TooManyRequests", .tokenBackOff, false),
        (500, "InternalServerError", .upstream, false),
        (503, "ServiceUnavailable", .upstream, false),
        (503, "Shutdown", .upstream, true), (503, "Service Unavailable", .upstream, false),
        (400, "BadChannelId", .tokenGone, false), (400, "BadRequestParams", .push, false),
        (400, "BadRequestPayload", .push, false),
        (400, "CannotCreateChannelConfig", .push, false),
        (400, "ChannelNotRegistered", .tokenGone, false),
        (400, "FeatureNotEnabled", .push, false), (400, "MissingChannelId", .push, false),
        (400, "MissingPushType", .push, false), (403, "TopicMismatch", .push, false),
    ]

    @Test(arguments: table)
    func `each of Apple's refusals has its blast radius`(
        status: Int, reason: String, reaches: BlastRadius, retires: Bool
    ) {
        let answer = APNsAnswer(status: status, body: [UInt8](#"{"reason":"\#(reason)"}"#.utf8))
        #expect(
            answer.result
                == .rejected(
                    status: status, reason: reason, reaches: reaches, tokenGoneSince: nil))
        #expect(answer.retiresConnection == retires)
    }

    @Test func `the table has these rows and no other`() {
        #expect(APNsReason.table.count == Self.table.count)
        #expect(Set(APNsReason.table.map { "\($0.status) \($0.name)" }).count == Self.table.count)
    }

    @Test func `the schema of a decision lists each of Apple's reasons, and no other`() throws {
        let schema = try ProtocolFiles.json("schemas/decision.json")
        let choices = try #require(schema["properties"]?["reason"]?["anyOf"])
        let apple = choices.elements.first { $0["title"]?.string == "apple_reason" }
        let list = try #require(apple?["enum"])
        #expect(list.elements.compactMap(\.string) == APNsReason.names)
    }

    @Test func `200 is accepted, whatever its body says`() {
        #expect(APNsAnswer(status: 200, body: []).result == .accepted)
        let odd = APNsAnswer(status: 200, body: [UInt8](#"{"reason":"Unregistered"}"#.utf8))
        #expect(odd.result == .accepted)
        #expect(!odd.retiresConnection)
    }

    @Test func `410 tells since when the token is gone, in milliseconds`() {
        let body = [UInt8](#"{"reason":"Unregistered","timestamp":1700000000123}"#.utf8)
        #expect(
            APNsAnswer(status: 410, body: body).result
                == .rejected(
                    status: 410, reason: "Unregistered", reaches: .tokenGone,
                    tokenGoneSince: Instant(milliseconds: 1_700_000_000_123)))
        #expect(APNsAnswer(status: 400, body: body).goneSince == nil)
    }

    @Test(arguments: [
        #"{"reason":"Unregistered","timestamp":"yesterday"}"#,
        #"{"reason":"Unregistered","timestamp":1.5}"#,
        #"{"reason":"Unregistered","timestamp":99999999999999999999}"#,
        #"{"reason":"Unregistered"}"#,
    ])
    func `a timestamp that is none is left out`(body: String) {
        let answer = APNsAnswer(status: 410, body: [UInt8](body.utf8))
        #expect(answer.reason == "Unregistered")
        #expect(answer.goneSince == nil)
        #expect(answer.reaches == .tokenGone)
    }

    @Test(arguments: [
        (401, BlastRadius.providerToken), (403, .providerToken), (410, .tokenGone),
        (429, .tokenBackOff), (400, .push), (404, .push), (413, .push), (418, .push),
        (500, .upstream), (502, .upstream), (504, .upstream), (301, .upstream), (204, .upstream),
        (0, .upstream),
    ])
    func `an unknown reason is classed by its status`(status: Int, reaches: BlastRadius) {
        let answer = APNsAnswer(status: status, body: [UInt8](#"{"reason":"NewInYear"}"#.utf8))
        #expect(answer.reason == "NewInYear")
        #expect(answer.reaches == reaches)
        #expect(answer.retiresConnection == (reaches == .providerToken))
    }

    @Test func `a reason under another status than Apple's counts as unknown`() {
        let answer = APNsAnswer(status: 500, body: [UInt8](#"{"reason":"Unregistered"}"#.utf8))
        #expect(answer.reaches == .upstream)
    }

    @Test(arguments: [
        "", "<html>502</html>", "[]", "{}", "{", #"{"reason":7}"#, #"{"reason":""}"#,
        #"{"reason":"a\u0007b"}"#, #"{"reason":"Zurück"}"#, #"{"reason":{"reason":"x"}}"#,
        #"{"reason":"\#(String(repeating: "a", count: 65))"}"#,
        #"{"reason":"Forbidden","pad":"\#(String(repeating: "a", count: 4_096))"}"#,
        #"{"reason":"Forbidden","reason":"Unregistered"}"#,
    ])
    func `a body that cannot be trusted gives no reason`(body: String) {
        let answer = APNsAnswer(status: 400, body: [UInt8](body.utf8))
        #expect(answer.reason == APNsAnswer.noReason)
        #expect(answer.reaches == .push)
    }

    @Test func `the longest reason that is kept has 64 bytes`() {
        let reason = String(repeating: "a", count: APNsAnswer.reasonBytesMax)
        let answer = APNsAnswer(status: 400, body: [UInt8](#"{"reason":"\#(reason)"}"#.utf8))
        #expect(answer.reason == reason)
    }
}
