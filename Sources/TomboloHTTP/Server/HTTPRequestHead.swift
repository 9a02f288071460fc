/// The version of HTTP in which a request came. HTTP/1.0 is answered too, and told as such.
package enum HTTPVersion: String, Hashable, Sendable {
    case http1_0 = "HTTP/1.0"
    case http1_1 = "HTTP/1.1"
    case http2 = "HTTP/2"
}

/// What a request says before its body: the same for every version of HTTP.
package struct HTTPRequestHead: Hashable, Sendable {
    /// A token (RFC 9110, 9.1) as sent: `GET`, `POST` … Case counts.
    package var method: String
    /// Path and query as sent: begins with `/` (or is `*` for `OPTIONS`), printable ASCII, without
    /// `#`. Not decoded and not normalised: that is the router's work.
    package var target: String
    /// `https` under TLS and `http` in clear text, whatever the peer claims.
    package var scheme: String
    /// `Host` or `:authority`, as sent. Nil only in HTTP/1.0 and where HTTP/2 sent neither.
    package var authority: String?
    /// Without pseudo fields and without `host`.
    package var fields: HTTPFields
    package var version: HTTPVersion
    /// The peer's address without its port, as numbers: `127.0.0.1`, `::1`.
    package var peerAddress: String

    package init(
        method: String, target: String, scheme: String, authority: String?, fields: HTTPFields,
        version: HTTPVersion, peerAddress: String
    ) {
        self.method = method
        self.target = target
        self.scheme = scheme
        self.authority = authority
        self.fields = fields
        self.version = version
        self.peerAddress = peerAddress
    }
}
