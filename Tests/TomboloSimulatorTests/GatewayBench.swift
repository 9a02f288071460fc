import TomboloCrypto

@testable import TomboloSimulator

/// A gateway with one key, one app and one phone's token, and a request it accepts: each test
/// spoils one thing.
struct GatewayBench {
    static let now = WallInstant(seconds: 1_800_000_000)
    static let bundleID = "com.example.app"
    static let topic = "com.example.app.push-type.liveactivity"
    static let token = String(repeating: "a1f0", count: 32)

    let key = P256PrivateKey.generate()
    var judge: RequestJudge
    var connection = GatewayConnection()
    var now = Self.now
    private var issuedIDs = 0
    /// One token for all requests of a bench: a sender that mints one per request gets a 429.
    private var usualToken = ""

    init() {
        let known = ProviderKey(keyID: "ABC123DEFG", teamID: "TEAM123456", publicKey: key.publicKey)
        judge = RequestJudge(rules: GatewayRules(keys: [known], bundleIDs: [Self.bundleID]))
        judge.tokens.issue(
            Self.token, topic: .liveActivity(Self.bundleID), environment: .sandbox,
            limit: .standard, at: Self.now)
        usualToken = providerToken()
    }

    /// A provider token. `der`: the signature in Apple's own samples' encoding.
    func providerToken(
        kid: String = "ABC123DEFG", iss: String = "TEAM123456", iat: Int64? = nil,
        algorithm: String = "ES256", signedBy other: P256PrivateKey? = nil, der: Bool = false
    ) -> String {
        let header = #"{"alg":"\#(algorithm)","kid":"\#(kid)"}"#
        let claims = #"{"iss":"\#(iss)","iat":\#(iat ?? now.seconds)}"#
        return jwt(header: header, claims: claims, signedBy: other ?? key, der: der)
    }

    func jwt(
        header: String, claims: String, signedBy key: P256PrivateKey, der: Bool = false
    ) -> String {
        let signed =
            Base64URL.encode([UInt8](header.utf8)) + "." + Base64URL.encode([UInt8](claims.utf8))
        let raw = key.signature(over: [UInt8](signed.utf8))
        return signed + "." + Base64URL.encode(der ? Self.der(raw) : raw)
    }

    func request(
        authorization: String? = nil, _ change: (inout PushRequest) -> Void = { _ in }
    ) -> PushRequest {
        var request = PushRequest(
            method: "POST", path: "/3/device/" + Self.token,
            fields: [
                ("authorization", authorization ?? "bearer " + usualToken),
                ("apns-topic", Self.topic), ("apns-push-type", "liveactivity"),
                ("apns-priority", "10"), ("apns-expiration", "0"),
                ("host", "localhost"), ("content-type", "application/json"),
            ],
            body: [UInt8](#"{"aps":{"event":"update"}}"#.utf8))
        change(&request)
        return request
    }

    mutating func answer(_ request: PushRequest) -> GatewayAnswer {
        judge.judge(request, on: &connection, at: now) {
            issuedIDs += 1
            return "00000000-0000-4000-8000-" + String(1_000_000_000_000 + issuedIDs).suffix(12)
        }
    }

    /// The reason of the refusal; nil where the request was accepted.
    mutating func refusal(_ request: PushRequest) -> Refusal? {
        if case .failure(let refusal) = answer(request).result { refusal } else { nil }
    }

    /// R and S as two DER integers in a sequence.
    private static func der(_ raw: [UInt8]) -> [UInt8] {
        let integers = [raw[..<32], raw[32...]].map { half -> [UInt8] in
            var digits = [UInt8](half.drop { $0 == 0 })
            if digits.isEmpty || digits[0] >= 0x80 { digits.insert(0, at: 0) }
            return [0x02, UInt8(digits.count)] + digits
        }.joined()
        return [0x30, UInt8(integers.count)] + integers
    }
}

extension PushRequest {
    /// Replaces a header, or removes it (nil).
    mutating func set(_ name: String, _ value: String?) {
        fields.removeAll { $0.name == name }
        if let value { fields.append((name, value)) }
    }
}
