import Testing
import TomboloHTTP

/// The date of an answer (RFC 9110, 6.6.1 and 5.6.7).
@Suite struct `The server's dates` {
    private static let time: Int64 = 784_111_777
    private static let date = "date: Sun, 06 Nov 1994 08:49:37 GMT"

    @Test(arguments: [
        (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (951_782_399, "Mon, 28 Feb 2000 23:59:59 GMT"),
        (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
        (1_798_761_599, "Thu, 31 Dec 2026 23:59:59 GMT"),
    ])
    func `a date is written as RFC 9110 has it`(_ unixTime: Int, _ text: String) {
        #expect(HTTPDate.text(unixTime: Int64(unixTime)) == text)
    }

    @Test(arguments: ["--http1.1", "--http2-prior-knowledge"])
    func `every answer has its date, whole or in parts`(_ version: String) async throws {
        try await withServer(unixTime: Self.time, answer: Self.answer) { server in
            for path in ["/whole", "/parts"] {
                let text = try await server.curl(path, ["-i", version])
                #expect(text.contains(Self.date), "\(text)")
            }
        }
    }

    @Test func `the server's own answer to what is no request has its date`() async throws {
        try await withServer(unixTime: Self.time, answer: Self.answer) { server in
            let answer = try await server.answer(to: "GET / HTTP/3.0\r\nHost: a\r\n\r\n")
            #expect(answer.contains(Self.date + "\r\n"), "\(answer)")
        }
    }

    @Sendable private static func answer(_ exchange: HTTPExchange) async {
        guard exchange.head.target == "/parts" else { return exchange.respond(200, [:], [0x2e]) }
        exchange.begin(200, [:])
        exchange.finish()
    }
}
