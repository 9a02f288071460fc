/// Why an HTTP/1.1 request is refused. A request that two parsers could read differently is always
/// refused, and the connection closes after the answer because later bytes cannot be trusted.
package enum HTTP1Refusal: String, Error, Hashable, Sendable, CaseIterable {
    case bareLineEnd = "bare-line-end"
    case badRequestLine = "bad-request-line"
    case badMethod = "bad-method"
    case badTarget = "bad-target"
    case targetTooLong = "target-too-long"
    case otherVersion = "other-http-version"
    case foldedField = "folded-field"
    case badFieldName = "bad-field-name"
    case badFieldValue = "bad-field-value"
    case fieldsTooLarge = "fields-too-large"
    case tooManyFields = "too-many-fields"
    case missingHost = "missing-host"
    case repeatedHost = "repeated-host"
    case badHost = "bad-host"
    case otherHost = "other-host"
    case badContentLength = "bad-content-length"
    case repeatedContentLength = "repeated-content-length"
    case lengthAndTransferCoding = "length-and-transfer-coding"
    case unknownTransferCoding = "unknown-transfer-coding"
    case transferCodingInOldVersion = "transfer-coding-in-http-1-0"
    case unknownExpectation = "unknown-expectation"
    case badChunk = "bad-chunk"
    case chunkExtensionsTooLarge = "chunk-extensions-too-large"
    case trailersTooLarge = "trailers-too-large"
    case connectNotOffered = "connect-not-offered"

    /// The status of the answer (RFC 9110, 15).
    package var status: Int {
        switch self {
        case .targetTooLong: 414
        case .unknownExpectation: 417
        case .fieldsTooLarge, .tooManyFields, .trailersTooLarge: 431
        case .unknownTransferCoding, .connectNotOffered: 501
        case .otherVersion: 505
        default: 400
        }
    }

    /// Cause and remedy in one sentence, for the client's developer.
    package var explanation: String {
        switch self {
        case .bareLineEnd: "A line must end with CR LF; a CR or LF stood alone."
        case .badRequestLine: "The first line must be: method, space, target, space, HTTP/1.1."
        case .badMethod: "The method must be a token of at most 32 bytes."
        case .badTarget:
            "The target must begin with / and hold printable ASCII without # (encode the rest)."
        case .targetTooLong: "The first line must fit into 16 KiB; move long values into the body."
        case .otherVersion: "Speak HTTP/1.1, or HTTP/2 with its connection preface."
        case .foldedField: "A field must stand on one line (no line may begin with a space)."
        case .badFieldName: "A field's name must be a token, with the colon directly behind it."
        case .badFieldValue: "A field's value must not hold control characters."
        case .fieldsTooLarge: "The head of a request must fit into 16 KiB."
        case .tooManyFields: "A request may have at most 64 fields."
        case .missingHost: "Send a Host field."
        case .repeatedHost: "Send one Host field, not several."
        case .badHost:
            "Host must be a name or an address, with a port where it is not the usual one."
        case .otherHost: "The host in the target and the Host field must be the same."
        case .badContentLength: "Content-Length must be one number of decimal digits."
        case .repeatedContentLength: "Send one Content-Length, not several."
        case .lengthAndTransferCoding: "Send Content-Length or Transfer-Encoding, never both."
        case .unknownTransferCoding: "The only transfer coding taken is: chunked, once."
        case .transferCodingInOldVersion: "HTTP/1.0 has no Transfer-Encoding; speak HTTP/1.1."
        case .unknownExpectation: "The only expectation taken is: 100-continue."
        case .badChunk: "A chunk must be: its size in 1 to 15 hex digits, CR LF, its bytes, CR LF."
        case .chunkExtensionsTooLarge:
            "Leave out chunk extensions; at most 1 KiB of them is skipped."
        case .trailersTooLarge: "Trailers must fit into 16 KiB and 64 fields."
        case .connectNotOffered: "This is not a proxy: CONNECT is not offered."
        }
    }
}
