/// Why bytes are not the private key they should be. Says what would help; never contains key
/// material.
package enum KeyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No block `-----BEGIN PRIVATE KEY-----`.
    case notPKCS8PEM
    /// Encrypted under a passphrase.
    case encrypted
    /// The block's content is no private key: cut short, or changed.
    case damaged
    /// A private key, but not on the curve P-256: Apple's keys are, and ES256 needs it.
    case notP256

    package var description: String {
        switch self {
        case .notPKCS8PEM:
            """
            not a .p8 file: it has no line "-----BEGIN PRIVATE KEY-----"; use the file as \
            downloaded from Apple's developer account (Keys)
            """
        case .encrypted:
            """
            the key is encrypted under a passphrase; use the .p8 as downloaded, or remove the \
            passphrase with: openssl pkcs8 -in KEY -out KEY.p8
            """
        case .damaged:
            "the private key in this file is damaged or cut short; copy the .p8 again"
        case .notP256:
            """
            the private key is not an elliptic-curve key on P-256, which provider tokens (ES256) \
            need; use a key for Apple Push Notifications service from Apple's developer account
            """
        }
    }
}
