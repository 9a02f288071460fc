import TomboloLoop

/// Why a connection could not be made, or why it ended unexpectedly.
package struct ConnectionError: Error, Hashable, CustomStringConvertible {
    /// Kind of error, for decisions in code; `message` is for people.
    package enum Kind: Hashable, Sendable {
        /// The name has no address.
        case unresolved
        /// No address accepted the connection.
        case refused
        /// Connecting, the handshake or closing took too long.
        case timedOut
        /// The handshake failed, or a record was damaged.
        case tls
        /// The peer answered a TLS handshake with something that is not TLS.
        case notTLS
        /// The peer cut the connection, or the network did.
        case reset
        /// The peer speaks another protocol than HTTP/2.
        case notHTTP2
        /// The waiting task was cancelled.
        case cancelled
        /// This machine lacks a resource (descriptors, a free address).
        case local
    }

    package let kind: Kind
    package let message: String

    package init(_ kind: Kind, _ message: String) {
        self.kind = kind
        self.message = message
    }

    init(_ kind: Kind, _ what: String, errno code: Int32) {
        self.init(kind, "\(what): \(systemErrorText(code))")
    }

    package var description: String { message }
}
