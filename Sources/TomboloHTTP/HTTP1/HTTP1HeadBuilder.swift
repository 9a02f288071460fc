/// Collects the head of one request line by line, and interprets it at its end.
struct HTTP1HeadBuilder: Sendable {
    /// Maximum length of a method; the registered ones have at most 17 bytes.
    static let methodBytesMax = 32

    private let method: String
    private var target: String
    /// The host of a target in absolute form (`http://host/path`); nil for other forms.
    private var targetAuthority: String?
    private let version: HTTPVersion
    private var fields = HTTPFields()
    private var fieldCount = 0
    private var host: String?
    private var contentLength: Int?
    private var isChunked = false
    private var expectsContinue = false
    private var closes = false
    private var keepsAlive = false

    init(requestLine line: ArraySlice<UInt8>) throws(HTTP1Refusal) {
        let parts = line.split(separator: HTTP1Bytes.space, omittingEmptySubsequences: false)
        guard parts.count == 3 else { throw .badRequestLine }
        let (method, target) = (parts[0], parts[1])
        guard method.count <= Self.methodBytesMax, HTTP1Bytes.isToken(method) else {
            throw .badMethod
        }
        version = try Self.version(parts[2])
        guard !target.isEmpty, target.allSatisfy(HTTP1Bytes.isTargetByte) else { throw .badTarget }
        self.method = String(decoding: method, as: UTF8.self)
        self.target = String(decoding: target, as: UTF8.self)
        guard self.method != "CONNECT" else { throw .connectNotOffered }
        guard target.first != UInt8(ascii: "/") else { return }
        if self.target == "*" {
            guard self.method == "OPTIONS" else { throw .badTarget }
            return
        }
        try reduceAbsoluteForm()
    }

    private static func version(_ text: ArraySlice<UInt8>) throws(HTTP1Refusal) -> HTTPVersion {
        switch String(decoding: text, as: UTF8.self) {
        case "HTTP/1.1": return .http1_1
        case "HTTP/1.0": return .http1_0
        case let other where other.hasPrefix("HTTP/"): throw .otherVersion
        default: throw .badRequestLine
        }
    }

    /// Turns `http://host/path` into `/path`. Keeps the host to check `Host` (RFC 9112, 3.2.2).
    private mutating func reduceAbsoluteForm() throws(HTTP1Refusal) {
        guard let colon = target.firstIndex(of: ":"), target[colon...].hasPrefix("://"),
            ["http", "https"].contains(target[..<colon].lowercased())
        else { throw .badTarget }
        let rest = target[target.index(colon, offsetBy: 3)...]
        let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        guard HTTP1Bytes.isAuthority(rest[..<end]) else { throw .badTarget }
        targetAuthority = String(rest[..<end])
        let path = rest[end...]
        target = path.hasPrefix("/") ? String(path) : "/" + path
    }

    mutating func add(fieldLine line: ArraySlice<UInt8>) throws(HTTP1Refusal) {
        fieldCount += 1
        guard fieldCount <= HTTP1RequestParser.fieldsMax else { throw .tooManyFields }
        let field = try HTTP1FieldLine.read(line)
        switch field.name {
        case "host": try takeHost(field.value)
        case "content-length": try takeContentLength(field.value)
        case "transfer-encoding": try takeTransferEncoding(field.value)
        case "expect":
            guard field.value.lowercased() == "100-continue" else { throw .unknownExpectation }
            expectsContinue = true
        case "connection": takeConnection(field.value)
        default: break
        }
        if field.name != "host" { fields.append(field.name, field.value) }
    }

    private mutating func takeHost(_ value: String) throws(HTTP1Refusal) {
        guard host == nil else { throw .repeatedHost }
        guard HTTP1Bytes.isAuthority(value) else { throw .badHost }
        host = value
    }

    private mutating func takeContentLength(_ value: String) throws(HTTP1Refusal) {
        guard contentLength == nil else { throw .repeatedContentLength }
        // 18 digits always fit into an Int, and no larger body could be stored.
        guard (1...18).contains(value.utf8.count),
            value.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let length = Int(value)
        else { throw .badContentLength }
        contentLength = length
    }

    private mutating func takeTransferEncoding(_ value: String) throws(HTTP1Refusal) {
        guard !isChunked, value.lowercased() == "chunked" else { throw .unknownTransferCoding }
        isChunked = true
    }

    private mutating func takeConnection(_ value: String) {
        for option in value.split(separator: ",") {
            switch option.trimmingOptionalSpace().lowercased() {
            case "close": closes = true
            case "keep-alive": keepsAlive = true
            default: break
            }
        }
    }

    func finish() throws(HTTP1Refusal) -> HTTP1Request {
        if isChunked, contentLength != nil { throw .lengthAndTransferCoding }
        if isChunked, version == .http1_0 { throw .transferCodingInOldVersion }
        if host == nil, version == .http1_1 { throw .missingHost }
        if let targetAuthority, targetAuthority.lowercased() != host?.lowercased() {
            throw .otherHost
        }
        let body: HTTP1Request.Body =
            if isChunked { .chunked } else if let contentLength, contentLength > 0 {
                .length(contentLength)
            } else { .none }
        return HTTP1Request(
            method: method, target: target, authority: host, fields: fields, version: version,
            body: body, keepsAlive: !closes && (version == .http1_1 || keepsAlive),
            expectsContinue: expectsContinue && body != .none && version == .http1_1)
    }
}

extension Substring {
    /// Returns the text without spaces and tabs at both ends.
    func trimmingOptionalSpace() -> Substring {
        var rest = self
        while let first = rest.utf8.first, first == 0x20 || first == 0x09 { rest.removeFirst() }
        while let last = rest.utf8.last, last == 0x20 || last == 0x09 { rest.removeLast() }
        return rest
    }
}
