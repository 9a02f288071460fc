package import TomboloCore
import TomboloCrypto

/// Signs provider tokens: JWS in compact form with ES256 (RFC 7515, section 7.1; RFC 7518, section
/// 3.4).
///
/// The header is `{"alg":"ES256","kid":…}` and the claims are `{"iss":…,"iat":…}`: only the four
/// members that Apple asks for.
package struct ProviderTokenSigner: Sendable {
    private let key: P256PrivateKey
    private let header: String
    private let issuer: String

    /// `keyID` and `teamID` have ten characters of A–Z and 0–9, as Apple's account page shows them.
    package init(keyID: String, teamID: String, p8: [UInt8]) throws(APNsConfigurationError) {
        if let objection = Self.objections(keyID: keyID, teamID: teamID).first { throw objection }
        do throws(KeyError) {
            key = try P256PrivateKey(pkcs8PEM: p8)
        } catch {
            throw .key(error)
        }
        header = Base64URL.encode([UInt8](#"{"alg":"ES256","kid":"\#(keyID)"}"#.utf8))
        issuer = teamID
    }

    /// All errors of the two ids, for callers that report all. `init` throws only the first.
    package static func objections(keyID: String, teamID: String) -> [APNsConfigurationError] {
        (isAppleID(keyID) ? [] : [.keyID(keyID)]) + (isAppleID(teamID) ? [] : [.teamID(teamID)])
    }

    /// A token issued at `wall`, which is cut to whole seconds.
    package func token(issuedAt wall: Instant) -> String {
        let claims = #"{"iss":"\#(issuer)","iat":\#(wall.seconds)}"#
        let signed = header + "." + Base64URL.encode([UInt8](claims.utf8))
        return signed + "." + Base64URL.encode(key.signature(over: [UInt8](signed.utf8)))
    }

    private static func isAppleID(_ id: String) -> Bool {
        id.utf8.count == 10
            && id.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }
}
