import TestSupport
import Testing
import TomboloHTTP
import TomboloLoop

@Suite struct TLSTests {
    /// What a client with `client` gets from a server with `server`.
    private func handshake(
        host: String = "127.0.0.1", server: TLSServerConfiguration, client: TLSClientConfiguration
    ) async throws -> Result<String?, ConnectionError> {
        try await onLoop { loop in
            let echo = try EchoServer(loop, tls: server)
            defer { echo.listener.close() }
            do throws(ConnectionError) {
                let connection = try await echo.dial(host: host, tls: client)
                defer { connection.abort() }
                return .success(connection.applicationProtocol)
            } catch {
                return .failure(error)
            }
        }
    }

    @Test(arguments: [
        ("ECDHE-ECDSA-AES128-GCM-SHA256", true), ("ECDHE-ECDSA-AES128-SHA", false),
    ])
    func `TLS 1-2 takes only suites that HTTP 2 may use`(
        _ suite: String, _ isTaken: Bool
    ) async throws {
        try await withServer(tls: true, answer: echo) { server in
            let text = try await server.run(
                "/usr/bin/openssl",
                [
                    "s_client", "-connect", "127.0.0.1:\(server.port)", "-tls1_2", "-cipher",
                    suite + ":@SECLEVEL=0", "-alpn", "h2",
                ])
            #expect(text.contains("ALPN protocol: h2") == isTaken, "\(text)")
        }
    }

    /// The groups that OpenSSL knows, and those that this server takes.
    @Test(arguments: [
        ("X25519", true), ("P-256", true), ("P-384", true), ("P-521", false), ("X448", false),
        ("ffdhe2048", false), ("ffdhe3072", false), ("ffdhe8192", false),
    ])
    func `no hello costs the loop more than 5 ms, whatever group it asks for`(
        _ group: String, _ isTaken: Bool
    ) async throws {
        try await withServer(tls: true, answer: echo) { server in
            let words = [
                "s_client", "-connect", "127.0.0.1:\(server.port)", "-groups", group, "-alpn", "h2",
            ]
            var least = Double.infinity
            for _ in 0..<3 {
                let before = threadSeconds()
                let text = try await server.run("/usr/bin/openssl", words)
                least = min(least, threadSeconds() - before)
                #expect(text.contains("ALPN protocol: h2") == isTaken, "\(text)")
            }
            #expect(least < 0.005, "\(group): \(least) s of the loop's thread")
        }
    }

    @Test func `an authority that the client does not trust is refused with the remedy`()
        async throws
    {
        let authority = try TestAuthority()
        let stranger = try TestAuthority()
        let result = try await handshake(server: authority.server, client: stranger.client)
        let error = #expect(throws: ConnectionError.self) { try result.get() }
        #expect(error?.kind == .tls)
        #expect(error?.message.contains("CA's file") == true)
    }

    @Test func `the system's authorities do not vouch for an ephemeral one`() async throws {
        let authority = try TestAuthority()
        let result = try await handshake(
            server: authority.server, client: try TLSClientConfiguration())
        #expect(throws: ConnectionError.self) { try result.get() }
    }

    @Test(arguments: ["localhost", "127.0.0.1"])
    func `names and addresses in the certificate are taken`(host: String) async throws {
        let authority = try TestAuthority()
        let result = try await handshake(
            host: host, server: authority.server, client: authority.client)
        #expect(try result.get() == "h2")
    }

    @Test func `a certificate for another host is refused and names what was expected`()
        async throws
    {
        let authority = try TestAuthority()
        for names in [["other.example"], ["127.0.0.2"]] {
            let credentials = try authority.authority.issueServer(
                names: names, unixTime: currentUnixTime())
            let server = try TLSServerConfiguration(
                certificateChain: credentials.certificateChain, privateKey: credentials.privateKey)
            let result = try await handshake(server: server, client: authority.client)
            let error = #expect(throws: ConnectionError.self) { try result.get() }
            #expect(error?.kind == .tls)
            #expect(error?.message.contains("127.0.0.1 is refused") == true)
        }
    }

    @Test func `the expected name can differ from the address that is connected to`() async throws {
        let authority = try TestAuthority()
        let credentials = try authority.authority.issueServer(
            names: ["api.push.example"], unixTime: currentUnixTime())
        let server = try TLSServerConfiguration(
            certificateChain: credentials.certificateChain, privateKey: credentials.privateKey)
        let client = try TLSClientConfiguration(
            trust: .certificates(authority.authority.certificate), serverName: "api.push.example")
        #expect(try await handshake(server: server, client: client).get() == "h2")
    }

    @Test func `an expired certificate is refused`() async throws {
        let past = currentUnixTime() - EphemeralCertificateAuthority.lifetimeSeconds - 1
        let authority = try TestAuthority(unixTime: past)
        let result = try await handshake(server: authority.server, client: authority.client)
        let error = #expect(throws: ConnectionError.self) { try result.get() }
        #expect(error?.message.contains("expired") == true)
    }

    @Test func `ALPN takes the server's first choice, and no common name ends the handshake`()
        async throws
    {
        let authority = try TestAuthority()
        let trust = TLSClientConfiguration.Trust.certificates(authority.authority.certificate)
        let both = try TLSClientConfiguration(
            trust: trust, applicationProtocols: ["http/1.1", "h2"])
        #expect(try await handshake(server: authority.server, client: both).get() == "h2")
        let none = try TLSClientConfiguration(trust: trust, applicationProtocols: [])
        #expect(try await handshake(server: authority.server, client: none).get() == nil)
        let other = try TLSClientConfiguration(trust: trust, applicationProtocols: ["spdy/3"])
        let result = try await handshake(server: authority.server, client: other)
        #expect(throws: ConnectionError.self) { try result.get() }
    }

    @Test func `damaged or foreign files are refused by name`() throws {
        let authority = try EphemeralCertificateAuthority(unixTime: 0)
        let one = try authority.issueServer(unixTime: 0)
        let two = try authority.issueServer(unixTime: 0)
        func message(_ certificate: [UInt8], _ key: [UInt8]) -> String? {
            #expect(throws: TLSError.self) {
                try TLSServerConfiguration(certificateChain: certificate, privateKey: key)
            }?.message
        }
        #expect(message(one.certificateChain, two.privateKey)?.contains("belong together") == true)
        #expect(message([], one.privateKey)?.contains("certificate chain") == true)
        #expect(message(one.certificateChain, [])?.contains("key file") == true)
        var damaged = one.certificateChain
        damaged[damaged.count / 2] = UInt8(ascii: "!")
        #expect(message(damaged, one.privateKey)?.contains("damaged") == true)
        #expect(throws: TLSError.self) {
            try TLSClientConfiguration(trust: .certificates(Array("no PEM".utf8)))
        }
    }

    @Test func `an authority signs for names and addresses and for nothing else`() throws {
        let authority = try EphemeralCertificateAuthority(unixTime: 0)
        #expect(throws: TLSError.self) { try authority.issueServer(names: [], unixTime: 0) }
        #expect(throws: TLSError.self) {
            try authority.issueServer(names: ["a,IP:10.0.0.1"], unixTime: 0)
        }
        #expect(throws: TLSError.self) { try authority.issueServer(names: [""], unixTime: 0) }
    }

    @Test func `the server does not speak TLS 1.1`() async throws {
        let authority = try TestAuthority()
        let output = try await onLoop { loop in
            let echo = try EchoServer(loop, tls: authority.server)
            defer { echo.listener.close() }
            let client = try SubprocessOutput(
                "openssl",
                [
                    "s_client", "-connect", "127.0.0.1:\(echo.listener.address.port)", "-tls1_1",
                    "-cipher", "ALL:@SECLEVEL=0",
                ], on: loop)
            return await client.wait()
        }
        #expect(output.contains("protocol version"))
    }

    @Test func `the client does not speak TLS 1.1`() async throws {
        let authority = try TestAuthority()
        try await onLoop { loop in
            let files = try TemporaryFiles()
            defer { files.remove() }
            let credentials = try authority.authority.issueServer(unixTime: currentUnixTime())
            let port = try freePort()
            let server = try SubprocessOutput(
                "openssl",
                [
                    "s_server", "-accept", "127.0.0.1:\(port)", "-www", "-tls1_1", "-cipher",
                    "ALL:@SECLEVEL=0", "-cert",
                    try files.write("certificate.pem", credentials.certificateChain), "-key",
                    try files.write("key.pem", credentials.privateKey),
                ], on: loop)
            defer { server.end() }
            try await server.waitUntilListening(port: port, on: loop)
            let error = await #expect(throws: ConnectionError.self) {
                try await Connection.dial(
                    host: "127.0.0.1", port: port, tls: authority.client, on: loop,
                    within: .seconds(10))
            }
            #expect(error?.kind == .tls)
        }
    }
}
