/// One request as a client sends it. A value that many requests share pieces of: `fields` and
/// `body` are copied on write.
package struct HTTP2Request: Sendable {
    package var method: String
    /// `https`, or `http` in clear text.
    package var scheme: String
    /// Host, with the port where it is not the scheme's own.
    package var authority: String
    /// Path and query; begins with `/`.
    package var path: String
    /// At most 64, without pseudo-fields, `connection` and the like (RFC 9113, 8.2.2).
    package var fields: HTTPFields
    /// The whole body; empty for none.
    package var body: [UInt8]

    package init(
        method: String, scheme: String, authority: String, path: String,
        fields: HTTPFields = HTTPFields(), body: [UInt8] = []
    ) {
        self.method = method
        self.scheme = scheme
        self.authority = authority
        self.path = path
        self.fields = fields
        self.body = body
    }
}

/// Where an HTTP/2 server is.
package struct HTTP2Endpoint: Hashable, Sendable {
    /// The `:scheme`; clear text is HTTP/2 by prior knowledge.
    package enum Scheme: String, Hashable, Sendable {
        /// TLS.
        case https
        /// Clear text, HTTP/2 by prior knowledge (RFC 9113, 3.3).
        case http
    }

    package var scheme: Scheme
    package var host: String
    package var port: Int

    package init(scheme: Scheme, host: String, port: Int) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// What `:authority` says: an IPv6 address in brackets, the port where it is not the scheme's
    /// own.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (scheme == .https ? 443 : 80) ? name : "\(name):\(port)"
    }
}

/// An answer that came whole.
package struct HTTPAnswer: Hashable, Sendable {
    /// 200 to 599 as a rule; whatever three digits the peer sent.
    package let status: Int
    package let fields: HTTPFields
    /// At most `HTTP2ClientLimits.answerBodyBytesMax`.
    package let body: [UInt8]

    package init(status: Int, fields: HTTPFields, body: [UInt8]) {
        self.status = status
        self.fields = fields
        self.body = body
    }
}

/// What became of a request: every one ends in exactly one of these.
package enum HTTP2Outcome: Hashable, Sendable {
    /// The whole answer came, whatever its status.
    case answered(HTTPAnswer)
    /// Surely not processed: above the last id of a GOAWAY, REFUSED_STREAM (RFC 9113, 8.7), or no
    /// byte of it was written. Safe to send again elsewhere, but for `unsendable`.
    case notProcessed(HTTP2Failure)
    /// Written, and no whole answer came: it may have been processed or not.
    case unknown(HTTP2Failure)
}

/// Why a request has no answer, or a connection no future.
package enum HTTP2Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The peer ends the connection and did not process this one.
    case goneAway(HTTP2GoAway)
    /// REFUSED_STREAM.
    case refused
    /// RST_STREAM with this code (RFC 9113, 7); by the peer, or here because the answer was
    /// malformed.
    case reset(UInt32)
    case connectionLost(ConnectionError)
    /// The peer broke the protocol; nghttp2's words.
    case protocolViolation(String)
    /// PING was not answered in time: the peer, or the way to it, is gone.
    case unresponsive
    case deadline
    /// Fields or body beyond the limit.
    case answerTooLarge
    /// Submitted while `capacity` was 0.
    case noCapacity
    /// Not a request that HTTP/2 can carry: which part.
    case unsendable(String)
    /// This side closed the connection, or cancelled the request.
    case closedHere

    package var description: String {
        switch self {
        case .goneAway(let goAway): "the peer ends the connection (\(goAway))"
        case .refused: "the peer refused the stream"
        case .reset(let code): "the stream was reset (\(http2ErrorName(code)))"
        case .connectionLost(let error): error.message
        case .protocolViolation(let reason): "the peer broke HTTP/2: \(reason)"
        case .unresponsive: "the peer did not answer a PING in time"
        case .deadline: "no answer before the deadline"
        case .answerTooLarge: "the answer is larger than the limit"
        case .noCapacity: "the connection takes no more requests now"
        case .unsendable(let part): "not a request that HTTP/2 can carry: \(part)"
        case .closedHere: "closed by this side"
        }
    }
}

/// A GOAWAY frame (RFC 9113, 6.8).
package struct HTTP2GoAway: Hashable, Sendable, CustomStringConvertible {
    /// Streams above it were not processed.
    package let lastStreamID: Int32
    package let errorCode: UInt32
    /// Additional debug data, at most 4,096 bytes of it: APNs puts `{"reason":"…"}` here.
    package let debugData: [UInt8]

    package static let debugBytesMax = 4_096

    package var description: String {
        let text = String(decoding: debugData.prefix(200), as: UTF8.self)
        return "GOAWAY \(http2ErrorName(errorCode))" + (text.isEmpty ? "" : " \(text)")
    }
}

/// The names of RFC 9113, 7.
package func http2ErrorName(_ code: UInt32) -> String {
    let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
        "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
        "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]
    return code < names.count ? names[Int(code)] : "code \(code)"
}

/// Who is told what became of requests.
package protocol HTTP2AnswerReceiver: AnyObject {
    /// Exactly once for each request that was submitted, on the loop, never from within `submit`.
    /// May submit or close.
    func answered(_ tag: UInt64, _ outcome: HTTP2Outcome)

    /// In place of `answered` for each tag, where the answer is a 200 of which no more is kept: all
    /// of them that came at once.
    func accepted(_ tags: [UInt64])
}

extension HTTP2AnswerReceiver {
    package func accepted(_ tags: [UInt64]) {
        for tag in tags {
            answered(tag, .answered(HTTPAnswer(status: 200, fields: HTTPFields(), body: [])))
        }
    }
}
