/// A client's request. `fields` and `body` are copied on write, so requests can share them.
package struct HTTP2Request: Sendable {
    package var method: String
    /// `https` with TLS, `http` for clear text.
    package var scheme: String
    /// Host, with the port unless it is the scheme's default.
    package var authority: String
    /// Path and query; begins with `/`.
    package var path: String
    /// At most 64 fields, without pseudo-fields and connection-specific fields (RFC 9113, 8.2.2).
    package var fields: HTTPFields
    /// The whole body, or its first part if more is streamed; may be empty.
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

/// Address of an HTTP/2 server.
package struct HTTP2Endpoint: Hashable, Sendable {
    /// Value of `:scheme`.
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

    /// Value of `:authority`: IPv6 addresses in brackets, without the scheme's default port.
    package var authority: String {
        let name = host.contains(":") ? "[\(host)]" : host
        return port == (scheme == .https ? 443 : 80) ? name : "\(name):\(port)"
    }
}

/// A complete answer.
package struct HTTPAnswer: Hashable, Sendable {
    /// Usually 200 to 599, but any three digits that the peer sent.
    package let status: Int
    package let fields: HTTPFields
    /// At most `HTTP2ClientLimits.answerBodyBytesMax`.
    package let body: [UInt8]
}

/// Outcome of a request: each request ends in exactly one of these.
package enum HTTP2Outcome: Hashable, Sendable {
    /// A complete answer came, with any status.
    case answered(HTTPAnswer)
    /// Certainly not processed: its stream is above the last id of a GOAWAY, it got REFUSED_STREAM
    /// (RFC 9113, 8.7), or no byte of it was written. Safe to send again, unless it is
    /// `unsendable`.
    case notProcessed(HTTP2Failure)
    /// Written, but no complete answer came: the peer may or may not have processed it.
    case unknown(HTTP2Failure)
}

/// Why a request got no answer, or why a connection ended.
package enum HTTP2Failure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The peer ends the connection (GOAWAY) and did not process this request.
    case goneAway(HTTP2GoAway)
    /// The peer sent REFUSED_STREAM.
    case refused
    /// RST_STREAM with this code (RFC 9113, 7) from the peer, or after a malformed answer.
    case reset(UInt32)
    case connectionLost(ConnectionError)
    /// The peer violated the protocol; the text is nghttp2's.
    case protocolViolation(String)
    /// A PING was not answered in time: the peer or the network is down.
    case unresponsive
    case deadline
    /// Fields or body of the answer exceed the limit.
    case answerTooLarge
    /// Submitted while `capacity` was 0.
    case noCapacity
    /// HTTP/2 cannot carry this request; the text names the part.
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
    /// Streams with a greater id were not processed.
    package let lastStreamID: Int32
    package let errorCode: UInt32
    /// The frame's additional debug data, cut to 4,096 bytes. APNs puts `{"reason":"…"}` here.
    package let debugData: [UInt8]

    package static let debugBytesMax = 4_096

    package var description: String {
        let text = String(decoding: debugData.prefix(200), as: UTF8.self)
        return "GOAWAY \(http2ErrorName(errorCode))" + (text.isEmpty ? "" : " \(text)")
    }
}

/// Name of an HTTP/2 error code (RFC 9113, 7).
package func http2ErrorName(_ code: UInt32) -> String {
    let names = [
        "NO_ERROR", "PROTOCOL_ERROR", "INTERNAL_ERROR", "FLOW_CONTROL_ERROR", "SETTINGS_TIMEOUT",
        "STREAM_CLOSED", "FRAME_SIZE_ERROR", "REFUSED_STREAM", "CANCEL", "COMPRESSION_ERROR",
        "CONNECT_ERROR", "ENHANCE_YOUR_CALM", "INADEQUATE_SECURITY", "HTTP_1_1_REQUIRED",
    ]
    return code < names.count ? names[Int(code)] : "code \(code)"
}

/// Receives the outcomes of requests.
package protocol HTTP2AnswerReceiver: AnyObject {
    /// Called once for each submitted request, on the loop, never during `submit`. The receiver may
    /// submit requests or close the client.
    func answered(_ tag: UInt64, _ outcome: HTTP2Outcome)

    /// Called instead of `answered` if the answers are 200s that are not kept: one call for all
    /// that came together.
    func accepted(_ tags: [UInt64])
}

extension HTTP2AnswerReceiver {
    package func accepted(_ tags: [UInt64]) {
        for tag in tags {
            answered(tag, .answered(HTTPAnswer(status: 200, fields: HTTPFields(), body: [])))
        }
    }
}
