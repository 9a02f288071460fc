import Testing
import TomboloCrypto

@testable import TomboloSimulator

@Suite struct ProviderTokenTests {
    private func reason(
        _ bench: inout GatewayBench, _ token: String
    ) -> RefusalReason? {
        bench.refusal(bench.request(authorization: "bearer " + token))?.reason
    }

    @Test func `raw and DER signatures and an iat in quotes are taken`() {
        var bench = GatewayBench()
        #expect(reason(&bench, bench.providerToken()) == nil)
        #expect(reason(&bench, bench.providerToken(der: true)) == nil)
        let quoted = bench.jwt(
            header: #"{"alg":"ES256","kid":"ABC123DEFG","typ":"JWT"}"#,
            claims: #"{"iss":"TEAM123456","iat":"1800000000","kid":"ABC123DEFG"}"#,
            signedBy: bench.key)
        bench.connection = GatewayConnection()
        #expect(reason(&bench, quoted) == nil)
    }

    @Test func `another key, team, signature or algorithm is refused`() {
        var bench = GatewayBench()
        let stranger = P256PrivateKey.generate()
        let wrong = [
            bench.providerToken(kid: "ABC123DEFH"), bench.providerToken(iss: "TEAM123457"),
            bench.providerToken(algorithm: "RS256"), bench.providerToken(signedBy: stranger),
            bench.providerToken() + "A", bench.providerToken() + ".",
        ]
        for token in wrong { #expect(reason(&bench, token) == .invalidProviderToken) }
    }

    @Test func `a token lives for an hour to either side of the clock`() {
        var bench = GatewayBench()
        let now = bench.now.seconds
        #expect(reason(&bench, bench.providerToken(iat: now - 3_601)) == .expiredProviderToken)
        #expect(reason(&bench, bench.providerToken(iat: now + 3_601)) == .expiredProviderToken)
        #expect(reason(&bench, bench.providerToken(iat: now - 3_600)) == nil)
    }

    @Test func `a verified token expires all the same`() {
        var bench = GatewayBench()
        let token = bench.providerToken()
        #expect(reason(&bench, token) == nil)
        bench.now = bench.now + .seconds(3_601)
        #expect(reason(&bench, token) == .expiredProviderToken)
    }

    @Test func `where wished an expired token poisons its connection`() {
        var bench = GatewayBench()
        bench.judge.rules.expiredTokenWedgesConnection = true
        let old = bench.providerToken(iat: bench.now.seconds - 4_000)
        #expect(reason(&bench, old) == .expiredProviderToken)
        #expect(reason(&bench, bench.providerToken()) == .expiredProviderToken)
        bench.connection = GatewayConnection()
        #expect(reason(&bench, bench.providerToken()) == nil)
    }

    @Test func `a connection changes its token once in twenty minutes`() {
        var bench = GatewayBench()
        let tokens = (0..<4).map { bench.providerToken(iat: bench.now.seconds - $0) }
        #expect(reason(&bench, tokens[0]) == nil)
        #expect(reason(&bench, tokens[1]) == nil)
        #expect(reason(&bench, tokens[1]) == nil)
        bench.now = bench.now + .seconds(20 * 60 - 1)
        #expect(reason(&bench, tokens[2]) == .tooManyProviderTokenUpdates)
        #expect(reason(&bench, tokens[1]) == nil)
        bench.now = bench.now + .seconds(1)
        #expect(reason(&bench, tokens[2]) == nil)
    }

    @Test func `an unrelated key needs a connection of its own`() {
        var bench = GatewayBench()
        let second = P256PrivateKey.generate()
        bench.judge.rules.keys.append(
            ProviderKey(keyID: "SECONDKEY0", teamID: "TEAM123456", publicKey: second.publicKey))
        #expect(reason(&bench, bench.providerToken()) == nil)
        let token = bench.providerToken(kid: "SECONDKEY0", signedBy: second)
        #expect(reason(&bench, token) == .unrelatedKeyIDInToken)
        bench.connection = GatewayConnection()
        #expect(reason(&bench, token) == nil)
    }

    @Test func `a key is for its environment and its topics`() {
        var bench = GatewayBench()
        bench.judge.rules.keys[0].environment = .production
        #expect(reason(&bench, bench.providerToken()) == .badEnvironmentKeyIDInToken)
        bench.judge.rules.keys[0].environment = nil
        bench.judge.rules.keys[0].bundleIDs = ["com.example.other"]
        #expect(reason(&bench, bench.providerToken()) == .topicDisallowed)
    }
}
