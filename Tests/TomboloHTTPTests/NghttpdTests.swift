import TestSupport
import Testing
import TomboloHTTP
import TomboloLoop

/// The client against the server of the nghttp2 project, as Debian packages it (nghttp2-server).
@Suite struct NghttpdTests {
    private func withServer(
        _ arguments: [String] = [],
        _ body:
            @escaping @Sendable (EpollLoop, HTTP2Endpoint, TLSClientConfiguration) async throws
            -> Void
    ) async throws {
        let authority = try TestAuthority()
        try await onLoop { loop in
            let files = try TemporaryFiles()
            defer { files.remove() }
            let credentials = try authority.authority.issueServer(unixTime: currentUnixTime())
            let port = try freePort()
            let key = try files.write("key.pem", credentials.privateKey)
            let certificate = try files.write("certificate.pem", credentials.certificateChain)
            _ = try files.write("hello", Array("Hello, island".utf8))
            let process = try SubprocessOutput(
                "nghttpd",
                ["--address=127.0.0.1", "-d", files.path] + arguments
                    + ["\(port)", key, certificate], on: loop)
            defer { process.end() }
            try await process.waitUntilListening(port: port, on: loop)
            let endpoint = HTTP2Endpoint(scheme: .https, host: "localhost", port: port)
            try await body(loop, endpoint, authority.client)
        }
    }

    @Test func `a file and a missing file`() async throws {
        try await withServer { loop, endpoint, tls in
            let client = try await HTTP2Client.connect(
                endpoint, tls: tls, on: loop, within: .seconds(20))
            for (path, status) in [("/hello", 200), ("/none", 404)] {
                var request = HTTP2Request.get(path)
                request.scheme = "https"
                let outcome = await client.perform(request, timeout: .seconds(20))
                guard case .answered(let answer) = outcome else {
                    Issue.record("\(outcome)")
                    continue
                }
                #expect(answer.status == status)
                if status == 200 { #expect(answer.body == Array("Hello, island".utf8)) }
            }
            client.close()
        }
    }

    @Test func `ten thousand pushes of 400 bytes are echoed, each once`() async throws {
        try await withServer(["--echo-upload", "-m", "100"]) { loop, endpoint, tls in
            let client = try await HTTP2Client.connect(
                endpoint, tls: tls, on: loop, within: .seconds(20))
            #expect(client.capacity == 100)
            let log = OutcomeLog(loop)
            var request = HTTP2Request.post(
                "/3/device/00", body: [UInt8](repeating: 66, count: 400))
            request.scheme = "https"
            request.authority = endpoint.authority
            var next: UInt64 = 0
            func submitMore() {
                while client.capacity > 0, next < 10_000 {
                    client.submit(request, to: log, tag: next)
                    next += 1
                }
            }
            log.onAnswer = { _, _ in submitMore() }
            submitMore()
            await log.wait(for: 10_000)
            log.onAnswer = { _, _ in }
            #expect(log.twice.isEmpty)
            let echoed = log.outcomes.values.filter {
                if case .answered(let answer) = $0 {
                    answer.status == 200 && answer.body == request.body
                } else {
                    false
                }
            }
            #expect(echoed.count == 10_000)
            client.close()
        }
    }
}
