import Testing
import TomboloHTTP

/// What two readers could read differently is refused. Each row: the bytes, and the refusal.
@Suite struct `Smuggling` {
    static let heads: [(String, HTTP1Refusal)] = [
        // Two lengths, or a length and a coding.
        ("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", .lengthAndTransferCoding),
        ("Transfer-Encoding: chunked\r\nContent-Length: 0\r\n", .lengthAndTransferCoding),
        ("Content-Length: 5\r\nContent-Length: 5\r\n", .repeatedContentLength),
        ("Content-Length: 5\r\ncontent-length: 6\r\n", .repeatedContentLength),
        ("Content-Length: 5, 5\r\n", .badContentLength),
        ("Content-Length: +5\r\n", .badContentLength),
        ("Content-Length: -5\r\n", .badContentLength),
        ("Content-Length: 0x5\r\n", .badContentLength),
        ("Content-Length: 5_0\r\n", .badContentLength),
        ("Content-Length: 5 0\r\n", .badContentLength),
        ("Content-Length: ٥\r\n", .badContentLength),
        ("Content-Length:\r\n", .badContentLength),
        ("Content-Length: 9999999999999999999\r\n", .badContentLength),
        // Transfer codings that somebody might take for chunked, or might not.
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n", .unknownTransferCoding),
        ("Transfer-Encoding: chunked, chunked\r\n", .unknownTransferCoding),
        ("Transfer-Encoding: gzip, chunked\r\n", .unknownTransferCoding),
        ("Transfer-Encoding: chunked, identity\r\n", .unknownTransferCoding),
        ("Transfer-Encoding: identity\r\n", .unknownTransferCoding),
        ("Transfer-Encoding: xchunked\r\n", .unknownTransferCoding),
        ("Transfer-Encoding: \"chunked\"\r\n", .unknownTransferCoding),
        ("Transfer-Encoding: chunked;q=1\r\n", .unknownTransferCoding),
        ("Transfer-Encoding: \u{0B}chunked\r\n", .badFieldValue),
        ("Transfer-Encoding:\r\n", .unknownTransferCoding),
        ("Transfer-Encoding : chunked\r\n", .badFieldName),
        ("Transfer-Encoding\t: chunked\r\n", .badFieldName),
        (" Transfer-Encoding: chunked\r\n", .foldedField),
        ("Transfer-Encoding:\r\n chunked\r\n", .unknownTransferCoding),
        ("X: a\r\n\tTransfer-Encoding: chunked\r\n", .foldedField),
        ("X: a\r\n \r\n", .foldedField),
        ("Transfer\u{00}-Encoding: chunked\r\n", .badFieldName),
        ("Tränsfer-Encoding: chunked\r\n", .badFieldName),
        // Line ends.
        ("X: a\nContent-Length: 5\r\n", .bareLineEnd),
        ("X: a\rContent-Length: 5\r\n", .bareLineEnd),
        ("X: a\r\r\n", .bareLineEnd),
        ("X: a\n\r\n", .bareLineEnd),
        ("X: a\u{00}b\r\n", .badFieldValue),
        ("X: a\u{7F}b\r\n", .badFieldValue),
        ("No colon\r\n", .badFieldName),
        (": no name\r\n", .badFieldName),
        // Whose request it is.
        ("Host: a\r\n", .repeatedHost),
        ("HOST: b\r\n", .repeatedHost),
        // What nobody here can do.
        ("Expect: 200-maybe\r\n", .unknownExpectation),
    ]

    @Test(arguments: heads.indices)
    func `a head with two readings is refused, however it is cut`(_ index: Int) {
        let (lines, expected) = Self.heads[index]
        let bytes = "POST / HTTP/1.1\r\nHost: a\r\n\(lines)\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n"
        for size in [Int.max, 1, 2, 3, 7] {
            #expect(refusal(bytes, inPiecesOf: size) == expected, "\(lines)")
        }
    }

    static let requests: [(String, HTTP1Refusal)] = [
        ("GET / HTTP/1.1\r\n\r\n", .missingHost),
        ("GET / HTTP/1.1\r\nHost:\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: a b\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: user@a\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: a, b\r\n\r\n", .badHost),
        ("GET / HTTP/1.1\r\nHost: a:8x\r\n\r\n", .badHost),
        ("GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n", .otherHost),
        ("GET http://a:81/ HTTP/1.1\r\nHost: a\r\n\r\n", .otherHost),
        ("GET http://user@a/ HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET a HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET * HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET /#x HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET /ä HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("GET /\t HTTP/1.1\r\nHost: a\r\n\r\n", .badTarget),
        ("CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n", .connectNotOffered),
        ("GET /  HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        ("GET  / HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        (" GET / HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        ("GET / HTTP/1.1 \r\nHost: a\r\n\r\n", .badRequestLine),
        ("GET /\r\nHost: a\r\n\r\n", .badRequestLine),
        ("GET\t/\tHTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        ("\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        ("\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", .bareLineEnd),
        ("G(T / HTTP/1.1\r\nHost: a\r\n\r\n", .badMethod),
        ("\(String(repeating: "M", count: 33)) / HTTP/1.1\r\nHost: a\r\n\r\n", .badMethod),
        ("GET / http/1.1\r\nHost: a\r\n\r\n", .badRequestLine),
        ("GET / HTTP/1.2\r\nHost: a\r\n\r\n", .otherVersion),
        ("GET / HTTP/2.0\r\nHost: a\r\n\r\n", .otherVersion),
        ("GET / HTTP/01.1\r\nHost: a\r\n\r\n", .otherVersion),
        (
            "POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
            .transferCodingInOldVersion
        ),
    ]

    @Test(arguments: requests.indices)
    func `a request with two readings is refused, however it is cut`(_ index: Int) {
        let (bytes, expected) = Self.requests[index]
        for size in [Int.max, 1, 2, 3, 7] {
            #expect(refusal(bytes, inPiecesOf: size) == expected, "\(bytes)")
        }
    }

    static let chunks: [(String, HTTP1Refusal)] = [
        ("\r\n", .badChunk),
        ("x\r\n", .badChunk),
        ("0x5\r\nhello\r\n0\r\n\r\n", .badChunk),
        ("-5\r\nhello\r\n0\r\n\r\n", .badChunk),
        ("+5\r\nhello\r\n0\r\n\r\n", .badChunk),
        (" 5\r\nhello\r\n0\r\n\r\n", .badChunk),
        ("5 \r\nhello\r\n0\r\n\r\n", .badChunk),
        ("5 ;x\r\nhello\r\n0\r\n\r\n", .badChunk),
        ("5\nhello\r\n0\r\n\r\n", .bareLineEnd),
        ("5;x\ny\r\nhello\r\n0\r\n\r\n", .bareLineEnd),
        ("5;\rx\r\nhello\r\n0\r\n\r\n", .bareLineEnd),
        ("5;\u{00}\r\nhello\r\n0\r\n\r\n", .badChunk),
        ("5\r\nhello0\r\n\r\n", .badChunk),
        ("5\r\nhello\n0\r\n\r\n", .bareLineEnd),
        ("5\r\nhello\rX0\r\n\r\n", .bareLineEnd),
        ("4\r\nhello\r\n0\r\n\r\n", .badChunk),
        ("6\r\nhello\r\n0\r\n\r\n", .bareLineEnd),
        ("1000000000000000\r\n", .badChunk),
        ("FFFFFFFFFFFFFFFFFFFF\r\n", .badChunk),
        ("5\r\nhello\r\n0\r\nX : y\r\n\r\n", .badFieldName),
        ("5\r\nhello\r\n0\r\n x: y\r\n\r\n", .foldedField),
        ("5\r\nhello\r\n0\r\nx: y\n\r\n", .bareLineEnd),
    ]

    @Test(arguments: chunks.indices)
    func `a bad chunk is refused, however it is cut`(_ index: Int) {
        let (bytes, expected) = Self.chunks[index]
        let head = "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        for size in [Int.max, 1, 2, 3, 7] {
            #expect(refusal(head + bytes, inPiecesOf: size) == expected, "\(bytes) by \(size)")
        }
    }

    @Test func `every refusal says what to do, under a status of its kind`() {
        for refusal in HTTP1Refusal.allCases {
            #expect((400...505).contains(refusal.status))
            #expect(refusal.explanation.hasSuffix("."))
        }
    }
}
