import TomboloCrypto

/// An API key as its holder has it: `tmb_<env>_<id>_<secret>_<check>`.
///
/// The check is six digits of a hash over the rest: a key that was cut or mistyped is told from one
/// that is not known, and scanners for leaked secrets can tell it from chance. The secret has 192
/// bits.
package struct APIKey: Sendable, CustomStringConvertible {
    /// Where the key is meant for, for example `live` or `dev`: a word for people, checked nowhere.
    package let environment: String
    package let id: String
    let secret: String

    private static let idBytes = 6
    private static let secretBytes = 24
    private static let checkDigits = 6
    /// Far above the length of any key; what is longer is not looked into.
    private static let textBytesMax = 256

    /// A new key.
    ///
    /// - Parameters:
    ///   - environment: 1 to 16 lower-case letters and digits.
    ///   - chance: makes bytes that nobody can guess.
    init(environment: String, chance: (Int) -> [UInt8]) {
        precondition(Self.isEnvironment(environment), "a key's environment is a short word")
        self.environment = environment
        id = Hex.encode(chance(Self.idBytes))
        secret = Hex.encode(chance(Self.secretBytes))
    }

    /// Why a text is no key.
    package enum Fault: Error, Hashable, Sendable {
        /// Not of this form at all.
        case malformed
        /// Of this form, but the check does not match: cut or mistyped.
        case mistyped
    }

    /// Reads a key's text; its check digits are compared, its secret is not.
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

    /// Whether a word may stand for the environment in a key.
    package static func isEnvironment(_ text: String) -> Bool {
        (1...16).contains(text.utf8.count)
            && text.utf8.allSatisfy { (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) }
    }

    /// The key itself; shown once, when it is minted.
    package var text: String { "\(body)_\(Self.check(of: body))" }

    /// What may be printed: no secret.
    package var description: String { "tmb_\(environment)_\(id)_…" }

    private var body: String { "tmb_\(environment)_\(id)_\(secret)" }

    private static func check(of body: String) -> String {
        String(Hex.encode(SHA256.digest(Array(body.utf8))).prefix(checkDigits))
    }
}
