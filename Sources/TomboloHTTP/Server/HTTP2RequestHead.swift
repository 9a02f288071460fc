/// Collects the head of one HTTP/2 request, and interprets it at its end. Pure. nghttp2 has already
/// checked the order and the characters of fields (RFC 9113, 8.2 and 8.3), and `HTTP2FieldCount`
/// their number and size.
struct HTTP2RequestHead {
    private var method = ""
    private var path = ""
    private var authority: String?
    private var host: String?
    private var contentLength: Int?
    private var fields = HTTPFields()
    private(set) var refusal: HTTP1Refusal?
    private(set) var expectsContinue = false

    mutating func add(
        name: UnsafeBufferPointer<UInt8>, value: UnsafeBufferPointer<UInt8>
    ) {
        guard refusal == nil else { return }
        let text = String(decoding: value, as: UTF8.self)
        if name.first == HTTP1Bytes.colon {
            addPseudo(String(decoding: name, as: UTF8.self), text)
            return
        }
        guard value.allSatisfy(HTTP1Bytes.isFieldValueByte) else {
            refuse(.badFieldValue)
            return
        }
        add(String(decoding: name, as: UTF8.self), text)
    }

    private mutating func addPseudo(_ name: String, _ value: String) {
        switch name {
        case ":method": method = value
        case ":path": path = value
        case ":authority": authority = value
        default: break
        }
    }

    private mutating func add(_ name: String, _ value: String) {
        switch name {
        case "host":
            host = value
            return
        case "content-length": contentLength = Int(value)
        case "expect":
            guard value.lowercased() == "100-continue" else { return refuse(.unknownExpectation) }
            expectsContinue = true
        default: break
        }
        fields.append(name, value)
    }

    mutating func refuse(_ reason: HTTP1Refusal) {
        if refusal == nil { refusal = reason }
        fields = HTTPFields()
    }

    /// - Parameter hasBody: true if the stream stays open after the head.
    mutating func finish(hasBody: Bool) -> HTTPServerRequest? {
        if refusal == nil { refusal = check() }
        guard refusal == nil else { return nil }
        return HTTPServerRequest(
            method: method, target: path, authority: authority ?? host, fields: fields,
            version: .http2, bodyLength: hasBody ? contentLength : 0)
    }

    private func check() -> HTTP1Refusal? {
        guard method != "CONNECT" else { return .connectNotOffered }
        guard method.utf8.count <= HTTP1HeadBuilder.methodBytesMax else { return .badMethod }
        let isPath = path.utf8.first == UInt8(ascii: "/") || path == "*" && method == "OPTIONS"
        guard isPath, path.utf8.allSatisfy(HTTP1Bytes.isTargetByte) else { return .badTarget }
        if let authority, let host, authority.lowercased() != host.lowercased() {
            return .otherHost
        }
        if let named = authority ?? host, !HTTP1Bytes.isAuthority(named) { return .badHost }
        return nil
    }
}
