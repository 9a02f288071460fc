import CNghttp2

/// Fields of an answer in nghttp2's format: one block of bytes, and pointers into it. Pure.
///
/// Fields for the framing of HTTP/1.1 messages, and fields whose name is not a lower-case token,
/// are left out. Control characters become spaces.
struct HTTP2FieldBlock {
    private var bytes: [UInt8] = []
    private var sizes: [(name: Int, value: Int)] = []

    init(status: Int, fields: HTTPFields = HTTPFields(), length: Int? = nil) {
        append(":status", String(status))
        for field in fields where Self.isHandlers(field.name) {
            append(field.name, field.value)
        }
        if let length { append("content-length", String(length)) }
    }

    private mutating func append(_ name: String, _ value: String) {
        bytes += name.utf8
        bytes += value.utf8.map { HTTP1Bytes.isFieldValueByte($0) ? $0 : HTTP1Bytes.space }
        sizes.append((name.utf8.count, value.utf8.count))
    }

    private static func isHandlers(_ name: String) -> Bool {
        switch name {
        case "connection", "content-length", "transfer-encoding", "keep-alive", "upgrade": false
        default: !name.isEmpty && name.utf8.allSatisfy { HTTP1Bytes.loweredTokenByte($0) == $0 }
        }
    }

    /// Calls `body` with the fields. They are invalid afterwards (nghttp2 copies them).
    mutating func withFields<Result>(
        _ body: (UnsafePointer<nghttp2_nv>, Int) -> Result
    ) -> Result {
        bytes.withUnsafeMutableBufferPointer { bytes in
            var next = bytes.baseAddress!
            let fields = sizes.map { size in
                defer { next += size.name + size.value }
                return nghttp2_nv(
                    name: next, value: next + size.name, namelen: size.name, valuelen: size.value,
                    flags: UInt8(NGHTTP2_NV_FLAG_NONE.rawValue))
            }
            return fields.withUnsafeBufferPointer { body($0.baseAddress!, $0.count) }
        }
    }
}
