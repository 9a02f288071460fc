/// Serializes HTTP/1.1 answers (RFC 9112). Pure; use one value for each answer.
///
/// The writer itself frames the answer: it leaves out a handler's `connection`, `content-length`,
/// `transfer-encoding`, `keep-alive` and `upgrade`. No field value can inject a line: control
/// characters become spaces, and a field whose name is not a token is left out.
package struct HTTP1ResponseWriter: Sendable {
    /// How the end of the body is marked.
    package enum Framing: Hashable, Sendable {
        /// No body is sent: an answer to `HEAD`, a 204 or a 304.
        case none
        case length(Int)
        case chunked
        /// The end of the connection ends the body, because HTTP/1.0 has no chunked coding.
        case untilClose
    }

    package let framing: Framing
    /// True if the connection closes after this answer.
    package let closes: Bool

    /// The interim answer to `Expect: 100-continue`.
    package static let continueLine = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    /// - Parameter length: number of bytes of the body; nil for a streaming answer.
    package init(
        status: Int, method: String, version: HTTPVersion, length: Int?, keepsAlive: Bool
    ) {
        if method == "HEAD" || status == 204 || status == 304 {
            framing = .none
        } else if let length {
            framing = .length(length)
        } else {
            framing = version == .http1_0 ? .untilClose : .chunked
        }
        closes = !keepsAlive || framing == .untilClose
    }

    /// Appends the head. In HTTP/1.0 it has `connection: keep-alive` if the connection stays open.
    package func appendHead(
        status: Int, fields: HTTPFields, version: HTTPVersion, to bytes: inout [UInt8]
    ) {
        bytes += "HTTP/1.1 \(status) \(Self.reason(status))\r\n".utf8
        for field in fields where Self.isHandlers(field.name) {
            bytes += field.name.utf8
            bytes += ": ".utf8
            bytes += field.value.utf8.map(Self.harmless)
            bytes += "\r\n".utf8
        }
        switch framing {
        case .length(let count): bytes += "content-length: \(count)\r\n".utf8
        case .chunked: bytes += "transfer-encoding: chunked\r\n".utf8
        case .none, .untilClose: break
        }
        if closes {
            bytes += "connection: close\r\n".utf8
        } else if version == .http1_0 {
            bytes += "connection: keep-alive\r\n".utf8
        }
        bytes += "\r\n".utf8
    }

    /// Appends a part of the body in this answer's framing; appends nothing if it has no body.
    package func appendPiece(_ piece: [UInt8], to bytes: inout [UInt8]) {
        switch framing {
        case .none: break
        case .length, .untilClose: bytes += piece
        case .chunked:
            // An empty chunk would end the body.
            guard !piece.isEmpty else { return }
            bytes += String(piece.count, radix: 16).utf8
            bytes += "\r\n".utf8
            bytes += piece
            bytes += "\r\n".utf8
        }
    }

    /// Appends the last chunk if the body is chunked.
    package func appendEnd(to bytes: inout [UInt8]) {
        if framing == .chunked { bytes += "0\r\n\r\n".utf8 }
    }

    private static func isHandlers(_ name: String) -> Bool {
        switch name {
        case "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade": false
        default: HTTP1Bytes.isToken(name.utf8)
        }
    }

    private static func harmless(_ byte: UInt8) -> UInt8 {
        HTTP1Bytes.isFieldValueByte(byte) ? byte : HTTP1Bytes.space
    }

    /// Reason phrase of a status. Clients ignore it; it is for people who read the bytes.
    private static func reason(_ status: Int) -> String {
        switch status {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 304: "Not Modified"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 417: "Expectation Failed"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 503: "Service Unavailable"
        case 505: "HTTP Version Not Supported"
        default: ""
        }
    }
}
