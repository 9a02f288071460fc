import Testing
import TomboloHTTP

@Suite struct `The parser of requests` {
    static let samples: [(bytes: String, told: [String])] = [
        ("GET / HTTP/1.1\r\nHost: a\r\n\r\n", ["GET /", "end"]),
        ("\r\nGET /?a=b HTTP/1.1\r\nHost: a\r\n\r\n", ["GET /?a=b", "end"]),
        (
            "POST /x HTTP/1.1\r\nhost:a\r\nContent-Length: 5\r\n\r\nhello",
            ["POST /x", "\"hello\"", "end"]
        ),
        ("POST /x HTTP/1.1\r\nhost:a\r\nContent-Length: 0\r\n\r\n", ["POST /x", "end"]),
        (
            "PUT /x HTTP/1.1\r\nhost:a\r\nTransfer-Encoding: Chunked\r\n\r\n"
                + "3\r\nabc\r\n00A;x=\"y\"\r\n0123456789\r\n0\r\nTrailer: t\r\n\r\n",
            ["PUT /x", "\"abc0123456789\"", "end"]
        ),
        (
            "GET /1 HTTP/1.1\r\nHost: a\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a\r\n"
                + "Content-Length: 2\r\n\r\nhiGET /3 HTTP/1.1\r\nHost: a\r\n\r\n",
            ["GET /1", "end", "POST /2", "\"hi\"", "end", "GET /3", "end"]
        ),
        ("GET http://A:80/x?y HTTP/1.1\r\nHost: a:80\r\n\r\n", ["GET /x?y", "end"]),
        ("GET http://a?y HTTP/1.1\r\nHost: a\r\n\r\n", ["GET /?y", "end"]),
        ("OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", ["OPTIONS *", "end"]),
        ("GET / HTTP/1.0\r\n\r\n", ["GET /", "end"]),
    ]

    @Test(arguments: samples.indices)
    func `a request reads the same in one piece and in pieces of every size`(_ index: Int) {
        let sample = Self.samples[index]
        for size in 1...sample.bytes.utf8.count {
            #expect(read(sample.bytes, inPiecesOf: size) == sample.told)
        }
    }

    @Test func `names are lowered, values keep their inside and lose the space around`() throws {
        let head = try #require(
            firstHead("GET / HTTP/1.1\r\nHost: A.b:8\r\nX-Thing:\t a  b \r\nx-empty:\r\n\r\n"))
        #expect(head.authority == "A.b:8")
        #expect(head.fields == ["x-thing": "a  b", "x-empty": ""])
    }

    @Test func `a connection lives on in 1.1 unless closed, in 1.0 only where asked for`() {
        func keepsAlive(_ version: String, _ field: String) -> Bool? {
            firstHead("GET / HTTP/\(version)\r\nHost: a\r\n\(field)\r\n")?.keepsAlive
        }
        #expect(keepsAlive("1.1", "") == true)
        #expect(keepsAlive("1.1", "Connection: x, Close\r\n") == false)
        #expect(keepsAlive("1.0", "") == false)
        #expect(keepsAlive("1.0", "Connection: Keep-Alive\r\n") == true)
        #expect(keepsAlive("1.0", "Connection: keep-alive, close\r\n") == false)
    }

    @Test func `an expectation counts only where there is a body to wait for`() {
        func expects(_ version: String, _ fields: String) -> Bool? {
            firstHead("POST / HTTP/\(version)\r\nHost: a\r\nExpect: 100-Continue\r\n\(fields)\r\n")?
                .expectsContinue
        }
        #expect(expects("1.1", "Content-Length: 3\r\n") == true)
        #expect(expects("1.1", "Transfer-Encoding: chunked\r\n") == true)
        #expect(expects("1.1", "Content-Length: 0\r\n") == false)
        #expect(expects("1.0", "Content-Length: 3\r\n") == false)
    }

    @Test func `a head of 16 KiB is taken, and one byte more refused`() {
        func head(bytes: Int) -> String {
            let frame = "GET / HTTP/1.1\r\nHost: a\r\nX: \r\n\r\n"
            let filling = String(repeating: "v", count: bytes - frame.utf8.count)
            return "GET / HTTP/1.1\r\nHost: a\r\nX: \(filling)\r\n\r\n"
        }
        for size in [Int.max, 4096, 1] {
            #expect(read(head(bytes: 16384), inPiecesOf: size) == ["GET /", "end"])
            #expect(refusal(head(bytes: 16385), inPiecesOf: size) == .fieldsTooLarge)
        }
        let endless = String(repeating: "a", count: 20_000)
        #expect(refusal("GET /\(endless)") == .targetTooLong)
        #expect(refusal("GET / HTTP/1.1\r\nHost: a\r\nX: \(endless)") == .fieldsTooLarge)
    }

    @Test func `64 fields are taken, and one more refused`() {
        func head(fields: Int) -> String {
            "GET / HTTP/1.1\r\nHost: a\r\n"
                + String(repeating: "a: b\r\n", count: fields - 1) + "\r\n"
        }
        #expect(refusal(head(fields: 64)) == nil)
        #expect(refusal(head(fields: 65)) == .tooManyFields)
    }

    @Test func `chunk extensions are skipped up to 1 KiB in all`() {
        func body(extensionBytes: Int) -> String {
            let half = extensionBytes / 2
            return "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
                + "1;\(String(repeating: "x", count: half - 1))\r\na\r\n"
                + "1;\(String(repeating: "x", count: extensionBytes - half - 1))\r\nb\r\n0\r\n\r\n"
        }
        #expect(read(body(extensionBytes: 1024)) == ["POST /", "\"ab\"", "end"])
        #expect(refusal(body(extensionBytes: 1025)) == .chunkExtensionsTooLarge)
    }

    @Test func `64 trailers are taken and dropped, and one more refused`() {
        func body(trailers: Int) -> String {
            "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n"
                + String(repeating: "a: b\r\n", count: trailers) + "\r\n"
        }
        #expect(read(body(trailers: 64)) == ["POST /", "\"a\"", "end"])
        #expect(refusal(body(trailers: 65)) == .trailersTooLarge)
        let long = String(repeating: "v", count: 16384)
        #expect(
            refusal(
                "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nx: \(long)")
                == .trailersTooLarge)
    }

    @Test func `many small chunks come out as one piece`() {
        var parser = HTTP1RequestParser()
        parser.append(
            Array("POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n".utf8))
        parser.append(Array(String(repeating: "1\r\na\r\n", count: 500).utf8))
        _ = parser.next()
        #expect(parser.next() == .body(Array(repeating: UInt8(ascii: "a"), count: 500)))
        #expect(parser.next() == nil)
    }

    @Test func `after a refusal nothing more comes, whatever is sent`() {
        var parser = HTTP1RequestParser()
        parser.append(Array("GET / HTTP/1.1\n\n".utf8))
        #expect(parser.next() == .refused(.bareLineEnd))
        parser.append(Array("GET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        #expect(parser.next() == nil)
        #expect(parser.bytesHeld == 0)
    }

    @Test func `it is between requests only with nothing held`() {
        var parser = HTTP1RequestParser()
        #expect(parser.isBetweenRequests)
        parser.append(Array("G".utf8))
        #expect(!parser.isBetweenRequests)
        parser.append(Array("ET / HTTP/1.1\r\nHost: a\r\n\r\n".utf8))
        while parser.next() != nil {}
        #expect(parser.isBetweenRequests)
        #expect(parser.bytesHeld == 0)
    }
}
