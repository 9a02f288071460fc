/// Counts the fields of one head or of trailers while they are decoded. Pure.
///
/// The limits are those of HTTP/1.1 (`HTTP1RequestParser`). They hold for what is decoded, not for
/// what is on the wire: a block of 16 kB can name an entry of the HPACK table 16,000 times.
package struct HTTP2FieldCount {
    /// What a field costs beyond its characters (RFC 9113, 6.5.2, SETTINGS_MAX_HEADER_LIST_SIZE).
    private static let fieldOverhead = 32

    private var fields = 0
    private var bytes = 0

    /// Nothing counted.
    package init() {}

    /// Counts a field. Answers whether the head is still within the limits.
    ///
    /// - Parameters:
    ///   - characters: the bytes of name and value.
    ///   - isPseudo: whether it is `:method` or its like, which are no fields in HTTP/1.1.
    package mutating func take(_ characters: Int, isPseudo: Bool) -> Bool {
        if !isPseudo { fields += 1 }
        bytes += characters + Self.fieldOverhead
        return fields <= HTTP1RequestParser.fieldsMax && bytes <= HTTP1RequestParser.headBytesMax
    }

    /// Why a head beyond the limits is refused; nil where it is a flood: no more of it is decoded.
    package var refusal: HTTP1Refusal? {
        guard fields <= Self.decodedMax * HTTP1RequestParser.fieldsMax,
            bytes <= Self.decodedMax * HTTP1RequestParser.headBytesMax
        else { return nil }
        return fields > HTTP1RequestParser.fieldsMax ? .tooManyFields : .fieldsTooLarge
    }

    /// So many times the limits are decoded for an answer: a peer that means no harm reads it.
    private static let decodedMax = 4
}
