/// HTTP version of a request. HTTP/1.0 requests are answered too.
package enum HTTPVersion: String, Hashable, Sendable {
    case http1_0 = "HTTP/1.0"
    case http1_1 = "HTTP/1.1"
    case http2 = "HTTP/2"
}

/// Head of a request: the same for every version of HTTP.
package struct HTTPRequestHead: Hashable, Sendable {
    /// The method as sent: a token such as `GET` (RFC 9110, 9.1). Case-sensitive.
    package var method: String
    /// Path and query as sent: begins with `/` (or is `*` for `OPTIONS`), printable ASCII, without
    /// `#`. The router decodes and normalises it.
    package var target: String
    /// `https` under TLS, `http` in clear text. What the peer sent does not matter.
    package var scheme: String
    /// `Host` or `:authority`, as sent. nil only in HTTP/1.0, or if an HTTP/2 request has neither.
    package var authority: String?
    /// All fields without pseudo-fields and without `host`.
    package var fields: HTTPFields
    package var version: HTTPVersion
    /// The peer's numeric address without its port: `127.0.0.1`, `::1`.
    package var peerAddress: String
}
