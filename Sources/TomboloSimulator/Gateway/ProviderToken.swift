import TomboloCrypto
import TomboloJSON

/// A parsed provider token: a JSON Web Token signed with ES256 (RFC 7519, RFC 7518 3.4), as in
/// Apple's *Establishing a token-based connection to APNs*.
///
/// The token is well-formed; its signature is checked separately.
struct ProviderToken: Hashable, Sendable {
    var keyID: String
    var teamID: String
    /// `iat`, Unix seconds.
    var issuedAt: Int64
    /// The signed bytes: header and claims, with the dot between them.
    private var signedBytes: [UInt8]
    private var signature: [UInt8]

    /// Parses a token. Returns nil if it is not three parts of base64url, or if header or claims
    /// lack a member that Apple requires.
    ///
    /// `iat` may be a string of digits: a widely used client sends that, and Apple accepts it.
    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3,
            let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64URL.decode(parts[2]),
            header.root["alg"]?.string == "ES256", let keyID = header.root["kid"]?.string,
            let teamID = claims.root["iss"]?.string, let iat = claims.root["iat"],
            let issuedAt = iat.integer ?? iat.string.flatMap(Int64.init)
        else { return nil }
        self.keyID = keyID
        self.teamID = teamID
        self.issuedAt = issuedAt
        self.signature = signature
        signedBytes = [UInt8]((parts[0] + "." + parts[1]).utf8)
    }

    /// True if the signature is valid. Raw R‖S (per the RFC) and DER (as in Apple's samples) are
    /// both accepted.
    func isSigned(by key: P256PublicKey) -> Bool {
        key.verifies(signature, over: signedBytes)
    }

    private static func object(_ part: String) -> JSONDocument? {
        guard let bytes = Base64URL.decode(part) else { return nil }
        // Apple gives the same reason for every parse error, so the error is dropped.
        guard let document = try? JSONDocument(bytes), document.root.kind == .object else {
            return nil
        }
        return document
    }
}
