import Testing
import TomboloHTTP

@Suite struct `The writer of answers` {
    private func answer(
        _ status: Int, _ fields: HTTPFields = [:], method: String = "GET",
        version: HTTPVersion = .http1_1, length: Int? = nil, keepsAlive: Bool = true,
        pieces: [String] = []
    ) -> String {
        let writer = HTTP1ResponseWriter(
            status: status, method: method, version: version, length: length,
            keepsAlive: keepsAlive)
        var bytes: [UInt8] = []
        writer.appendHead(status: status, fields: fields, version: version, to: &bytes)
        for piece in pieces { writer.appendPiece(Array(piece.utf8), to: &bytes) }
        writer.appendEnd(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `a whole answer tells its length`() {
        #expect(
            answer(200, ["a": "b"], length: 2, pieces: ["hi"])
                == "HTTP/1.1 200 OK\r\na: b\r\ncontent-length: 2\r\n\r\nhi")
        #expect(answer(404, length: 0) == "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
    }

    @Test func `a streaming answer comes in chunks, and an empty piece does not end it`() {
        #expect(
            answer(200, pieces: ["hello", "", String(repeating: "x", count: 17)])
                == "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n"
                + "5\r\nhello\r\n11\r\nxxxxxxxxxxxxxxxxx\r\n0\r\n\r\n")
    }

    @Test func `HEAD, 204 and 304 have no body, whatever is written`() {
        let head = answer(200, method: "HEAD", length: 2, pieces: ["hi"])
        #expect(head == "HTTP/1.1 200 OK\r\n\r\n")
        #expect(answer(204, length: 0) == "HTTP/1.1 204 No Content\r\n\r\n")
        #expect(answer(304, pieces: ["hi"]) == "HTTP/1.1 304 Not Modified\r\n\r\n")
    }

    @Test func `in HTTP 1.0 a stream ends with its connection`() {
        #expect(
            answer(200, version: .http1_0, pieces: ["hi"])
                == "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nhi")
        #expect(
            answer(200, version: .http1_0, length: 2, pieces: ["hi"])
                == "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: keep-alive\r\n\r\nhi")
    }

    @Test func `a field cannot end its line, nor frame the answer`() {
        let fields: HTTPFields = [
            "location": "/x\r\nset-cookie: a\0b", "bad name": "v", "content-length": "7",
            "transfer-encoding": "chunked", "connection": "upgrade",
        ]
        #expect(
            answer(200, fields, length: 0, keepsAlive: false)
                == "HTTP/1.1 200 OK\r\nlocation: /x  set-cookie: a b\r\ncontent-length: 0\r\n"
                + "connection: close\r\n\r\n")
    }
}
