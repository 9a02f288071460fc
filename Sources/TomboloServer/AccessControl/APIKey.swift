import TomboloCrypto

/// The text of an API key: `tmb_<env>_<id>_<secret>_<check>`. The check is six hexadecimal digits
/// of a hash of the rest. It distinguishes a mistyped key from an unknown one, and helps scanners
/// to recognise leaked secrets. The secret has 192 bits.
package struct APIKey: Sendable, CustomStringConvertible {
    /// The key's purpose, for example `live` or `dev`: for people only, never checked.
    package let environment: String
    package let id: String
    let secret: String

    private static let idBytes = 6
    private static let secretBytes = 24
    private static let checkDigits = 6
    /// Limit for a key's text, far above the length of any key; longer text is not parsed.
    private static let textBytesMax = 256

    /// Makes a new key.
    ///
    /// - Parameters:
    ///   - environment: 1 to 16 lower-case letters and digits.
    ///   - chance: makes unpredictable bytes.
    init(environment: String, chance: (Int) -> [UInt8]) {
        precondition(Self.isEnvironment(environment), "a key's environment is a short word")
        self.environment = environment
        id = Hex.encode(chance(Self.idBytes))
        secret = Hex.encode(chance(Self.secretBytes))
    }

    /// Why a text is not a key.
    package enum Fault: Error, Hashable, Sendable {
        /// The text does not have a key's form.
        case malformed
        /// The form is right, but the check does not match: the key was cut or mistyped.
        case mistyped
    }

    /// Parses a key's text. Verifies the check digits, but not the secret.
    package init(_ text: String) throws(Fault) {
        guard text.utf8.count <= Self.textBytesMax else { throw .malformed }
        let parts = text.split(separator: "_", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 5, parts[0] == "tmb", Self.isEnvironment(parts[1]) else {
            throw .malformed
        }
        environment = parts[1]
        id = parts[2]
        secret = parts[3]
        guard parts[4] == Self.check(of: body) else { throw .mistyped }
    }

    /// True if the text may be the environment of a key.
    package static func isEnvironment(_ text: String) -> Bool {
        (1...16).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) }
    }

    /// The key's full text. It is shown once, when the key is minted.
    package var text: String { "\(body)_\(Self.check(of: body))" }

    /// A text that may be printed: it lacks the secret.
    package var description: String { "tmb_\(environment)_\(id)_…" }

    private var body: String { "tmb_\(environment)_\(id)_\(secret)" }

    private static func check(of body: String) -> String {
        String(Hex.encode(SHA256.digest(Array(body.utf8))).prefix(checkDigits))
    }
}
