/// Counts the fields of one head or of trailers while they are decoded. Pure.
///
/// The limits are those of HTTP/1.1 (`HTTP1RequestParser`). They apply to decoded fields, not to
/// bytes on the wire: 16 kB on the wire can refer to an HPACK entry 16,000 times.
package struct HTTP2FieldCount {
    /// Bytes added for each field (RFC 9113, 6.5.2, SETTINGS_MAX_HEADER_LIST_SIZE).
    private static let fieldOverhead = 32

    private var fields = 0
    private var bytes = 0

    /// Starts with nothing counted.
    package init() {}

    /// Counts a field. Returns false if the head now exceeds the limits.
    package mutating func add(_ characters: Int, isPseudo: Bool) -> Bool {
        if !isPseudo { fields += 1 }
        bytes += characters + Self.fieldOverhead
        return fields <= HTTP1RequestParser.fieldsMax && bytes <= HTTP1RequestParser.headBytesMax
    }

    /// Why a head beyond the limits is refused. nil if it exceeds them more than `decodedMax`
    /// times: such a flood is not decoded further.
    package var refusal: HTTP1Refusal? {
        guard fields <= Self.decodedMax * HTTP1RequestParser.fieldsMax,
            bytes <= Self.decodedMax * HTTP1RequestParser.headBytesMax
        else { return nil }
        return fields > HTTP1RequestParser.fieldsMax ? .tooManyFields : .fieldsTooLarge
    }

    /// A head up to this many times the limits is decoded fully, so that the peer gets an answer.
    private static let decodedMax = 4
}
