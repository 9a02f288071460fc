/// The reason that bytes are no usable private key. The text says what to do, and never contains a
/// part of the key.
package enum KeyError: Error, Hashable, Sendable, CustomStringConvertible {
    /// There is no block `-----BEGIN PRIVATE KEY-----`.
    case notPKCS8PEM
    /// The key is encrypted with a passphrase.
    case encrypted
    /// The block's content is no private key: something is missing or was changed.
    case damaged
    /// The block exists, but its lines were changed.
    case lines(Lines)
    /// The private key is on another curve than P-256. Apple's keys are on P-256; ES256 needs it.
    case notP256

    /// What happened to the lines of a key when it was copied through another file or a variable.
    /// The remedies print no key to the terminal: they write it to a file that others cannot read.
    package enum Lines: String, Hashable, Sendable, CaseIterable {
        case escaped =
            #"it has \n for line ends; undo it: (umask 077; printf '%b' "$(cat KEY)" > fixed.p8)"#
        case quoted = #"it is in quotes; remove them: (umask 077; tr -d "\"'" < KEY > fixed.p8)"#
        case indented =
            "its lines are indented; undo it: (umask 077; sed 's/^[[:space:]]*//' KEY > fixed.p8)"
        case joined = "its line ends are gone; the first and the last line stand by themselves"

        /// Finds what happened to a text with the block's first line; nil if its lines are right.
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
