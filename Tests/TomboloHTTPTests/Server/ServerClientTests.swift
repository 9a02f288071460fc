import Testing
import TomboloHTTP
import TomboloLoop

/// The server against clients that others wrote.
@Suite struct `Clients of the server` {
    @Test func `curl speaks HTTP 1.1 and HTTP 2 on one port in clear text`() async throws {
        try await withServer(answer: echo) { server in
            for (option, version) in [
                ("--http1.0", "1.0"), ("--http1.1", "1.1"), ("--http2-prior-knowledge", "2"),
            ] {
                let got = try await server.curl("/a?b=c", [option])
                #expect(got == "GET /a?b=c|\(version == "1.0" ? "1.1" : version) 200")
            }
        }
    }

    @Test func `under TLS ALPN decides, and without ALPN it is HTTP 1.1`() async throws {
        try await withServer(tls: true, answer: echo) { server in
            for (options, version) in [
                (["--http1.1"], "1.1"), (["--http2"], "2"), (["--no-alpn"], "1.1"),
                (["--no-alpn", "--http2-prior-knowledge"], "2"),
            ] {
                let got1 = try await server.curl("/a", options)
                #expect(got1 == "GET /a|\(version) 200")
            }
        }
    }

    @Test func `bodies come with a length, in chunks, and after 100 Continue`() async throws {
        for tls in [false, true] {
            try await withServer(tls: tls, answer: count) { server in
                let body = [UInt8](repeating: 120, count: 3_000_000)
                let file = try server.files.write("body", body)
                for version in ["--http1.1", tls ? "--http2" : "--http2-prior-knowledge"] {
                    for framing in [
                        ["-H", "Expect:"], ["-H", "Expect: 100-continue"],
                        ["-H", "Transfer-Encoding: chunked", "-H", "Expect:"],
                    ] {
                        let got = try await server.curl(
                            "/", [version, "--data-binary", "@\(file)"] + framing)
                        #expect(got.hasPrefix("3000000|"), "\(version) \(framing): \(got)")
                    }
                }
            }
        }
    }

    @Test func `a streaming answer arrives whole in every version`() async throws {
        let piece = [UInt8](repeating: 121, count: 10_000)
        try await withServer { exchange in
            exchange.begin(200, [:])
            for _ in 0..<300 {
                do { try await exchange.write(piece) } catch { return }
            }
            exchange.finish()
        } _: { server in
            for version in ["--http1.0", "--http1.1", "--http2-prior-knowledge"] {
                let got = try await server.curl(
                    "/", [version, "-o", "/dev/null", "-w", "%{size_download}"])
                #expect(got == "3000000", "\(version)")
            }
        }
    }

    @Test func `HEAD, 204 and an empty answer have no body`() async throws {
        try await withServer { exchange in
            exchange.respond(
                exchange.head.target == "/204" ? 204 : 200, [:],
                exchange.head.method == "HEAD" ? [1, 2, 3] : [])
        } _: { server in
            for (version, number) in [("--http1.1", "1.1"), ("--http2-prior-knowledge", "2")] {
                let got2 = try await server.curl("/204", [version])
                #expect(got2 == "|\(number) 204")
                let got3 = try await server.curl("/", [version])
                #expect(got3 == "|\(number) 200")
                let head = try await server.curl("/", [version, "-I", "-o", "/dev/null"])
                #expect(head == "|\(number) 200")
            }
        }
    }

    @Test func `h2load gets every answer over one connection and over many`() async throws {
        for tls in [false, true] {
            try await withServer(tls: tls, answer: echo) { server in
                let file = try server.files.write("body", [UInt8](repeating: 98, count: 400))
                let got = try await server.run(
                    "/usr/bin/h2load",
                    ["-n", "3000", "-c", "3", "-m", "100", "-d", file, server.origin + "/"])
                #expect(got.contains("3000 succeeded, 0 failed"), "\(got)")
                let old = try await server.run(
                    "/usr/bin/h2load", ["--h1", "-n", "1000", "-c", "4", server.origin + "/x"])
                #expect(old.contains("1000 succeeded, 0 failed"), "\(old)")
            }
        }
    }

    @Test func `nghttp fetches many requests over one connection`() async throws {
        try await withServer(answer: echo) { server in
            let urls = (0..<20).map { "\(server.origin)/\($0)" }
            let got = try await server.run("/usr/bin/nghttp", urls)
            for index in 0..<20 { #expect(got.contains("GET /\(index)")) }
        }
    }

    @Test func `a new certificate counts for new connections, and none is dropped`() async throws {
        let other = try TestAuthority()
        try await withServer(tls: true, answer: echo) { server in
            let before = try await Connection.dial(
                host: "localhost", port: server.port, tls: server.authority?.client,
                on: server.loop, within: .seconds(20))
            let talker = Talker(before, server.loop)
            server.server.reload(other.server)
            let refused = try await server.curl("/", [])
            #expect(refused.contains("curl: (60)"), "\(refused)")
            let trust = try server.files.write("other.pem", other.authority.certificate)
            let taken = try await server.curl("/", ["--cacert", trust])
            #expect(taken == "GET /|2 200")
            before.resumeReading()
            talker.send(RawHTTP2.preface + RawHTTP2.request(1))
            let answer = await talker.frame(RawHTTP2.data)
            #expect(answer?.payload == Array("GET /".utf8))
            before.abort()
        }
    }
}
