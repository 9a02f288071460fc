/// Why bytes are not the private key they should be. Says what would help; never contains key
/// material.
package enum KeyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// No block `-----BEGIN PRIVATE KEY-----`.
    case notPKCS8PEM
    /// Encrypted under a passphrase.
    case encrypted
    /// The block's content is no private key: cut short, or changed.
    case damaged
    /// The block is there, and its lines are not as they were.
    case lines(Lines)
    /// A private key, but not on the curve P-256: Apple's keys are, and ES256 needs it.
    case notP256

    /// What a copy through another file or a variable makes of the lines of a key. The commands
    /// print no key to the terminal: it goes to a file that others cannot read.
    package enum Lines: String, Hashable, Sendable, CaseIterable {
        case escaped =
            #"it has \n for line ends; undo it: (umask 077; printf '%b' "$(cat KEY)" > fixed.p8)"#
        case quoted = #"it is in quotes; remove them: (umask 077; tr -d "\"'" < KEY > fixed.p8)"#
        case indented =
            "its lines are indented; undo it: (umask 077; sed 's/^[[:space:]]*//' KEY > fixed.p8)"
        case joined = "its line ends are gone; the first and the last line stand by themselves"

        /// Why a text with the block's first line is no block; nil where its lines are right.
        init?(of text: String) {
            let lines = text.split(whereSeparator: \.isNewline)
            if text.contains(#"\n"#) {
                self = .escaped
            } else if text.contains("\"--") || text.contains("'--") {
                self = .quoted
            } else if lines.contains(where: { $0.first?.isWhitespace == true }) {
                self = .indented
            } else if lines.contains(where: { $0.contains("-----BEGIN") && $0.count > 64 }) {
                self = .joined
            } else {
                return nil
            }
        }
    }

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
        case .lines(let lines): lines.rawValue
        case .notP256:
            """
            the private key is not an elliptic-curve key on P-256, which provider tokens (ES256) \
            need; use a key for Apple Push Notifications service from Apple's developer account
            """
        }
    }
}
