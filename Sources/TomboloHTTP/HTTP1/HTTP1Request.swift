/// Head of an HTTP/1.1 request, parsed so strictly that the end of its body is unambiguous.
package struct HTTP1Request: Hashable, Sendable {
    /// How the body's length is given (RFC 9112, 6.3).
    package enum Body: Hashable, Sendable {
        case none
        /// The body's length in bytes, at least 1.
        case length(Int)
        case chunked
    }

    package var method: String
    /// The target in origin form (`/path?query`). A target in absolute form is shortened to this
    /// after its host was compared with `Host`.
    package var target: String
    /// The value of `Host`; nil only in HTTP/1.0.
    package var authority: String?
    /// All fields except `host`.
    package var fields: HTTPFields
    package var version: HTTPVersion
    package var body: Body
    /// True if the client keeps the connection open after this request.
    package var keepsAlive: Bool
    /// True if the client waits for `100 Continue` before it sends the body.
    package var expectsContinue: Bool
}

/// Event of the request parser.
package enum HTTP1RequestEvent: Hashable, Sendable {
    case head(HTTP1Request)
    /// A part of the body, never empty. Where the parser splits the body has no meaning.
    case body([UInt8])
    /// The request is complete. Later bytes belong to the next one.
    case end
    /// The request is bad. The parser returns no more events.
    case refused(HTTP1Refusal)
}
