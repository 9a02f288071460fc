import CoreRig
import Testing
import TomboloCore
import TomboloCrypto
import TomboloJSON

@testable import TomboloSimulator

/// Mistakes made at the relay's core.
enum Relaying {
    /// What the relay says of a command to an activity that runs on one phone.
    static func lints(
        type: String? = nil, _ kind: EventKind, _ body: String, id: String = "cat",
        after prepare: (inout Rig) throws -> Void = { _ in }
    ) throws -> [Lint.Code] {
        var rig = Rig()
        if let type { try put(type, &rig) }
        rig.runningActivity()
        rig.advance(to: 1)
        try prepare(&rig)
        rig.command(kind, body, id: id)
        return rig.lastAccepted?.lint.map(\.code) ?? []
    }

    static func warnings(
        type: String? = nil, _ kind: EventKind, _ body: String, id: String = "cat",
        after prepare: (inout Rig) throws -> Void = { _ in }
    ) throws -> [FailureRow.Warning] {
        try lints(type: type, kind, body, id: id, after: prepare).map { .lint($0) }
    }

    /// Registers a type of the app; answers what was said of it.
    @discardableResult
    static func put(_ type: String, _ rig: inout Rig) throws -> [Lint.Code] {
        let type = try ActivityType(reading: Rig.json(type))
        rig.step(.type(type, name: "Runner", app: nil, Rig.tenant, Ticket(9_000)))
        return rig.lastStored?.lint.map(\.code) ?? []
    }
}

/// Mistakes in a push that somebody else made: `tombolo lint` reads it so.
enum PushLint {
    static let now: Int64 = 1_800_000_000

    static func lints(
        _ aps: String, type: ActivityType? = nil,
        _ change: (inout PayloadLint.Headers) -> Void = { _ in }
    ) -> [Lint] {
        var headers = PayloadLint.Headers()
        change(&headers)
        let time = aps.contains("timestamp") ? "" : "\"timestamp\":\(now),"
        return PayloadLint.lints(
            payload: Array("{\"aps\":{\(time)\(aps)}}".utf8), headers: headers, type: type,
            now: Instant(seconds: now))
    }

    /// An update that is right in all else, unless another `aps` is given.
    static func codes(
        _ aps: String = #""event":"update","content-state":{"image":"b"}"#,
        _ change: (inout PayloadLint.Headers) -> Void = { _ in }
    ) -> [Lint.Code] { lints(aps, change).map(\.code) }

    /// An update of so many bytes.
    static func codes(image bytes: Int) -> [Lint.Code] {
        PayloadLint.lints(payload: update(bytes: bytes), now: Instant(seconds: now)).map(\.code)
    }

    static func update(bytes: Int) -> [UInt8] {
        let head =
            "{\"aps\":{\"timestamp\":\(now),\"event\":\"update\",\"content-state\":{\"image\":\""
        let text = head + String(repeating: "x", count: bytes - head.utf8.count - 4) + "\"}}}"
        return Array(text.utf8)
    }
}

/// A simulated phone with one card, and the gateway before it.
struct PhoneUnderFailure {
    static let beginning = WallInstant(seconds: PushLint.now)
    static let topic = "com.example.app.push-type.liveactivity"

    var phone: Phone
    var now = Self.beginning
    private(set) var startToken = ""
    private(set) var updateToken = ""
    /// Apple knows its update token no more.
    /// Of the token that the phone has given back.
    private(set) var end: TokenEnd?

    init(
        starts: Bool = true, channel: String? = nil,
        _ configure: (inout PhoneConfiguration) -> Void = { _ in }
    ) {
        var configuration = PhoneConfiguration(
            name: "phone-1", bundleID: "com.example.app", startTokenSeed: [1],
            updateTokenSeed: [2])
        configuration.shapes["RunnerWidgetAttributes"] = .object([
            .init("image", .string), .init("at", .date, isRequired: false),
        ])
        configure(&configuration)
        phone = Phone(configuration, at: now)
        follow(phone.boot())
        if starts { start(extra: channel.map { ",\"input-push-channel\":\"\($0)\"" } ?? "") }
    }

    /// What a phone did with what `happen` brings it.
    static func silences(
        starts: Bool = true, _ happen: (inout Self) -> Void
    ) -> [FailureRow.Silence] {
        var phone = Self(starts: starts)
        happen(&phone)
        return phone.silences
    }

    /// What it did with what came, or why it did nothing.
    var silences: [FailureRow.Silence] { phone.ignored.map { .ignored($0.reason) } }

    private mutating func follow(_ effects: [PhoneEffect]) {
        for case .tokenRetired(_, _, let end) in effects { self.end = end }
        for case .tokenIssued(let token, let purpose) in effects {
            switch purpose {
            case .start: startToken = token
            case .update: updateToken = token
            case .widget, .control: break
            }
        }
    }

    mutating func swipeAway() { follow(phone.swipeAway(activityID: "cat", at: now)) }

    mutating func pass(_ seconds: Int64) {
        now = now + .seconds(seconds)
        follow(phone.advance(to: now))
    }

    mutating func start(
        id: String? = "cat", alert: Bool = true, extra: String = "",
        expiration: PushExpiration = .absent
    ) {
        let attributes = id.map { "{\"activity_id\":\"\($0)\"}" } ?? "{}"
        var aps = "\"event\":\"start\",\"attributes-type\":\"RunnerWidgetAttributes\""
        aps += ",\"attributes\":\(attributes),\"content-state\":{\"image\":\"a\"}\(extra)"
        if alert { aps += ",\"alert\":{\"title\":\"Go\"}" }
        send(aps, to: startToken, expiration: expiration)
    }

    /// `aps` of an update or end; the time of now is put before it where it has none.
    mutating func change(_ aps: String, priority: Int = 5) {
        send(aps, to: updateToken, priority: priority)
    }

    mutating func update(image: String = "\"b\"", time: Int64? = nil) {
        change(
            "\"timestamp\":\(time ?? now.seconds),\"event\":\"update\",\"content-state\":{\"image\":\(image)}"
        )
    }

    private mutating func send(
        _ aps: String, to token: String, priority: Int = 5,
        expiration: PushExpiration = .absent
    ) {
        let time = aps.contains("timestamp") ? "" : "\"timestamp\":\(now.seconds),"
        let push = AcceptedPush(
            apnsID: "id", token: token, topic: .liveActivity("com.example.app"),
            type: .liveActivity, priority: priority, expiration: expiration, collapseID: nil,
            payload: Array("{\"aps\":{\(time)\(aps)}}".utf8), acceptedAt: now)
        follow(phone.receive(push, at: now))
    }
}

/// Apple's gateway, as the simulator reads Apple's pages.
struct GatewayUnderFailure {
    private let key = P256PrivateKey.generate()
    private var judge: RequestJudge
    private var connection = GatewayConnection()
    private(set) var token = ""
    static let deviceToken = String(repeating: "ab", count: 40)

    init(_ environment: PushEnvironment = .sandbox, tokenOf world: PushEnvironment = .sandbox) {
        let known = ProviderKey(keyID: "ABC123DEFG", teamID: "TEAM123456", publicKey: key.publicKey)
        judge = RequestJudge(
            rules: GatewayRules(
                environment: environment, keys: [known], bundleIDs: ["com.example.app"]))
        judge.tokens.issue(
            Self.deviceToken, topic: .liveActivity("com.example.app"), environment: world,
            limit: nil, at: PhoneUnderFailure.beginning)
        token = providerToken()
    }

    func providerToken(team: String = "TEAM123456", issuedAt: Int64 = PushLint.now) -> String {
        let header = #"{"alg":"ES256","kid":"ABC123DEFG"}"#
        let claims = #"{"iss":"\#(team)","iat":\#(issuedAt)}"#
        let signed =
            Base64URL.encode(Array(header.utf8)) + "." + Base64URL.encode(Array(claims.utf8))
        return signed + "." + Base64URL.encode(key.signature(over: Array(signed.utf8)))
    }

    private func request(
        _ path: String, _ fields: [(name: String, value: String)], _ body: [UInt8],
        _ token: String?
    ) -> PushRequest {
        PushRequest(
            method: "POST", path: path,
            fields: [("authorization", "bearer \(token ?? self.token)")] + fields, body: body)
    }

    /// The reason that a push is refused for; none where it is taken.
    mutating func push(
        topic: String = PhoneUnderFailure.topic, body: [UInt8] = PushLint.update(bytes: 200),
        providerToken: String? = nil
    ) -> [FailureRow.Silence] {
        let request = request(
            "/3/device/" + Self.deviceToken,
            [
                ("apns-topic", topic), ("apns-push-type", "liveactivity"),
                ("apns-priority", "5"), ("apns-expiration", "0"),
            ], body, providerToken)
        let answer = judge.judge(
            request, on: &connection, at: PhoneUnderFailure.beginning,
            freshID: { "00000000-0000-4000-8000-000000000000" })
        if case .failure(let refusal) = answer.result {
            return [.answered(refusal.reason.rawValue)]
        }
        return []
    }

    /// What an update comes to whose token the phone has given back.
    static func after(_ end: TokenEnd) -> [FailureRow.Silence] {
        var gateway = GatewayUnderFailure()
        gateway.judge.tokens.retire(
            deviceToken, reason: end.reason, at: PhoneUnderFailure.beginning)
        return gateway.push()
    }

    /// The id of a new channel that stores nothing.
    mutating func makeChannel() -> String {
        let body = #"{"message-storage-policy":0,"push-type":"LiveActivity"}"#
        return channels("/1/apps/com.example.app/channels", [], Array(body.utf8)).channelID ?? ""
    }

    mutating func broadcast(
        on channel: String, expiration: String = "0"
    ) -> [FailureRow.Silence] {
        let answer = answer(toBroadcastOn: channel, expiration)
        let reason = (try? JSONDocument(answer.body))?.root["reason"]?.string  // 200 has no body
        return reason.map { [.answered($0)] } ?? []
    }

    /// A broadcast as phones get it.
    mutating func taken(on channel: String) -> AcceptedBroadcast? {
        answer(toBroadcastOn: channel, "0").broadcast
    }

    private mutating func answer(
        toBroadcastOn channel: String, _ expiration: String
    ) -> ChannelAnswer {
        channels(
            "/4/broadcasts/apps/com.example.app",
            [
                ("apns-channel-id", channel), ("apns-push-type", "liveactivity"),
                ("apns-priority", "5"), ("apns-expiration", expiration),
            ], PushLint.update(bytes: 200))
    }

    private mutating func channels(
        _ path: String, _ fields: [(name: String, value: String)], _ body: [UInt8]
    ) -> ChannelAnswer {
        judge.judgeChannel(
            request(path, fields, body, nil), on: &connection, at: PhoneUnderFailure.beginning,
            freshID: { "00000000-0000-4000-8000-000000000000" },
            freshChannel: { [UInt8](repeating: 7, count: 16) })
    }
}
