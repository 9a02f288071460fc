/// Finds parts of a request that HTTP/2 cannot carry, or that the peer could misread.
///
/// It checks every byte of every request, 16 bytes at a time.
enum HTTP2RequestCheck {
    /// Name of the first bad part; nil if HTTP/2 can carry the whole request.
    static func unsendablePart(_ request: borrowing HTTP2Request) -> String? {
        guard !request.method.isEmpty, isPlain(request.method) else { return "method" }
        guard !request.scheme.isEmpty, isPlain(request.scheme) else { return "scheme" }
        guard isPlain(request.authority) else { return "authority" }
        guard request.path.utf8.first == UInt8(ascii: "/") || request.path == "*",
            isPlain(request.path)
        else { return "path" }
        guard request.fields.count <= HTTP2ClientSession.fieldsMax else {
            return "more than 64 fields"
        }
        return request.fields.withUnsafeFields { fields in
            for field in fields {
                let isGood =
                    !field.name.isEmpty && field.name.first != UInt8(ascii: ":")
                    && !hasControl(field.name) && !hasControl(field.value)
                if !isGood { return "field '\(String(decoding: field.name, as: UTF8.self))'" }
            }
            return nil
        }
    }

    private static func isPlain(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { !hasBlankOrControl(UnsafeRawBufferPointer($0)) }
    }

    /// True if there is a byte below a space, or DEL.
    static func hasControl(_ bytes: UnsafeRawBufferPointer) -> Bool { has(bytes, below: 0x20) }

    /// True if there is a space, a byte below it, or DEL.
    static func hasBlankOrControl(_ bytes: UnsafeRawBufferPointer) -> Bool {
        has(bytes, below: 0x21)
    }

    @inline(__always)
    private static func has(_ bytes: UnsafeRawBufferPointer, below limit: UInt8) -> Bool {
        let limits = SIMD16<UInt8>(repeating: limit)
        let deletes = SIMD16<UInt8>(repeating: 0x7f)
        var found = SIMDMask<SIMD16<Int8>>(repeating: false)
        var offset = 0
        while offset + 16 <= bytes.count {
            let piece = bytes.loadUnaligned(fromByteOffset: offset, as: SIMD16<UInt8>.self)
            found .|= (piece .< limits) .| (piece .== deletes)
            offset += 16
        }
        while offset < bytes.count {
            let byte = bytes[offset]
            if byte < limit || byte == 0x7f { return true }
            offset += 1
        }
        return any(found)
    }
}
