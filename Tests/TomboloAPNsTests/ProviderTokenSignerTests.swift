import Testing
import TomboloAPNs
import TomboloCore
import TomboloCrypto
import TomboloJSON

struct ProviderTokenSignerTests {
    @Test func `a token has Apple's header and claims, and its key's signature`() throws {
        let key = P256PrivateKey.generate()
        let signer = try ProviderTokenSigner(
            keyID: "ABC123DEFG", teamID: "TEAM123456", p8: key.pkcs8PEM)
        let token = signer.token(issuedAt: Instant(milliseconds: 1_700_000_000_999))

        let parts = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try #require(parts.count == 3)
        let header = try #require(Base64URL.decode(parts[0]))
        let claims = try #require(Base64URL.decode(parts[1]))
        let signature = try #require(Base64URL.decode(parts[2]))
        #expect(
            String(decoding: header, as: UTF8.self) == #"{"alg":"ES256","kid":"ABC123DEFG"}"#)
        #expect(
            String(decoding: claims, as: UTF8.self) == #"{"iss":"TEAM123456","iat":1700000000}"#)
        #expect(signature.count == 64)
        let signed = [UInt8]("\(parts[0]).\(parts[1])".utf8)
        #expect(key.publicKey.verifies(signature, over: signed))
        #expect(!P256PrivateKey.generate().publicKey.verifies(signature, over: signed))
        // The size `tombolo bench push` stands for.
        #expect((184...220).contains("bearer \(token)".utf8.count))
    }

    @Test(arguments: ["", "ABC123DEF", "ABC123DEFGH", "abc123defg", "ABC123DEF\"", "ABC 23DEFG"])
    func `an id that is not Apple's ten characters is refused, and named`(id: String) {
        let pem = P256PrivateKey.generate().pkcs8PEM
        #expect(throws: APNsConfigurationError.keyID(id)) {
            try ProviderTokenSigner(keyID: id, teamID: "TEAM123456", p8: pem)
        }
        #expect(throws: APNsConfigurationError.teamID(id)) {
            try ProviderTokenSigner(keyID: "ABC123DEFG", teamID: id, p8: pem)
        }
        #expect("\(APNsConfigurationError.keyID(id))".contains("\"\(id)\""))
    }

    @Test func `a file that is no key is refused with what would help`() {
        #expect(throws: APNsConfigurationError.key(.notPKCS8PEM)) {
            try ProviderTokenSigner(keyID: "ABC123DEFG", teamID: "TEAM123456", p8: [1, 2, 3])
        }
        #expect("\(APNsConfigurationError.key(.notPKCS8PEM))".contains("key_file"))
    }
}
