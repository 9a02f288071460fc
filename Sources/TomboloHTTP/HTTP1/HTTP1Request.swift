/// The head of a request in HTTP/1.1, read so strictly that its body's extent is beyond doubt.
package struct HTTP1Request: Hashable, Sendable {
    /// How far the body reaches (RFC 9112, 6.3).
    package enum Body: Hashable, Sendable {
        case none
        /// At least one byte.
        case length(Int)
        case chunked
    }

    package var method: String
    /// In origin form; an absolute form has been reduced to it after its host was compared.
    package var target: String
    /// Nil only in HTTP/1.0.
    package var authority: String?
    /// All fields but `host`.
    package var fields: HTTPFields
    package var version: HTTPVersion
    package var body: Body
    /// Whether the client lets the connection live after this request.
    package var keepsAlive: Bool
    /// Whether the client waits for `100 Continue` before it sends the body.
    package var expectsContinue: Bool
}

/// What the parser of requests has found.
package enum HTTP1RequestEvent: Hashable, Sendable {
    case head(HTTP1Request)
    /// A part of the body, never empty, its borders without meaning.
    case body([UInt8])
    /// The request is complete. What follows, if anything, is the next one.
    case end
    /// Nothing more comes out of this parser.
    case refused(HTTP1Refusal)
}
