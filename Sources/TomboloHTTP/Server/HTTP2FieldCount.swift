/// Counts the fields of one head or of trailers while they are decoded. Pure.
///
/// The limits are those of HTTP/1.1 (`HTTP1RequestParser`). They apply to decoded fields, not to
/// bytes on the wire: a block of 16 kB can refer to an HPACK entry 16,000 times.
package struct HTTP2FieldCount {
    /// Bytes that each field counts beyond its characters (RFC 9113, 6.5.2,
    /// SETTINGS_MAX_HEADER_LIST_SIZE).
    private static let fieldOverhead = 32

    private var fields = 0
    private var bytes = 0

    /// Starts with nothing counted.
    package init() {}

    /// Counts a field. Returns true if the head is still within the limits.
    ///
    /// - Parameters:
    ///   - characters: the bytes of name and value.
    ///   - isPseudo: true for pseudo-fields such as `:method`, which are not fields in HTTP/1.1.
    package mutating func take(_ characters: Int, isPseudo: Bool) -> Bool {
        if !isPseudo { fields += 1 }
        bytes += characters + Self.fieldOverhead
        return fields <= HTTP1RequestParser.fieldsMax && bytes <= HTTP1RequestParser.headBytesMax
    }

    /// Why a head beyond the limits is refused; nil for a flood, of which no more is decoded.
    package var refusal: HTTP1Refusal? {
        guard fields <= Self.decodedMax * HTTP1RequestParser.fieldsMax,
            bytes <= Self.decodedMax * HTTP1RequestParser.headBytesMax
        else { return nil }
        return fields > HTTP1RequestParser.fieldsMax ? .tooManyFields : .fieldsTooLarge
    }

    /// A head up to this many times too large is decoded, so that the peer gets an answer.
    private static let decodedMax = 4
}
