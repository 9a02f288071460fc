import Glibc
import TestSupport
import Testing
import TomboloHTTP
import TomboloLoop

@Suite struct TransportTests {
    @Test func `bytes come back as they went, in clear text and over TLS`() async throws {
        let authority = try TestAuthority()
        for tls in [nil, authority] {
            try await onLoop { loop in
                let server = try EchoServer(loop, tls: tls?.server)
                let sent = (0..<700_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
                let connection = try await server.dial(tls: tls?.client)
                let client = Talker(connection, loop)
                client.send(sent)
                let received = await client.receive(count: sent.count)
                #expect(received == sent)
                #expect(connection.applicationProtocol == (tls == nil ? nil : "h2"))
                connection.close()
                let end = await client.waitForEnd()
                #expect(end == .closedByThisSide)
                server.listener.close()
            }
        }
    }

    @Test func `a reader that pauses holds the writer back and loses nothing`() async throws {
        let authority = try TestAuthority()
        try await onLoop { loop in
            let server = try EchoServer(loop, tls: authority.server)
            let connection = try await server.dial(tls: authority.client)
            let client = Talker(connection, loop)
            connection.pauseReading()
            let sent = [UInt8](repeating: 7, count: 24_000_000)
            client.send(sent)
            while !client.isHeldBack { try await loop.sleep(for: .milliseconds(1)) }
            #expect(connection.sentBytes < UInt64(sent.count))
            #expect(client.received.isEmpty)
            connection.resumeReading()
            let received = await client.receive(count: sent.count)
            #expect(received == sent)
            connection.abort()
            server.listener.close()
        }
    }

    @Test func `an owner that may not write holds back also what it has given`() async throws {
        try await onLoop { loop in
            let server = try EchoServer(loop, tls: nil) { $0.connection.pauseReading() }
            let client = Talker(try await server.dial(tls: nil), loop)
            let all = [UInt8](repeating: 7, count: 24_000_000)
            client.send(all)
            while !client.isHeldBack { try await loop.sleep(for: .milliseconds(1)) }
            client.mayWrite = false
            let sent = Int(client.connection.sentBytes)
            // The peer has read all, so the socket is writable, and still nothing goes.
            let served = await server.talker()
            _ = await served.receive(count: sent)
            try await loop.sleep(for: .milliseconds(10))
            #expect(served.received.count == sent)
            #expect(client.isHeldBack)
            client.mayWrite = true
            client.connection.wantsOutput()
            #expect(await served.receive(count: all.count) == all)
            client.connection.abort()
            server.listener.close()
        }
    }

    @Test func `closing sends what is in hand, then the end`() async throws {
        let authority = try TestAuthority()
        for tls in [nil, authority] {
            try await onLoop { loop in
                let server = try EchoServer(loop, tls: tls?.server) {
                    $0.send([1, 2, 3], close: true)
                }
                let client = Talker(try await server.dial(tls: tls?.client), loop)
                client.connection.resumeReading()
                let end = await client.waitForEnd()
                #expect(client.received == [1, 2, 3])
                #expect(end == .endedByPeer)
                client.connection.abort()
                server.listener.close()
            }
        }
    }

    @Test func `an abort is told to both sides, once, and not before the end of the turn`()
        async throws
    {
        try await onLoop { loop in
            let server = try EchoServer(loop, tls: nil)
            let connection = try await server.dial(tls: nil)
            let client = Talker(connection, loop)
            connection.resumeReading()
            connection.abort()
            connection.abort()
            #expect(client.end == nil)
            let end = await client.waitForEnd()
            #expect(end == .closedByThisSide)
            #expect(client.endCount == 1)
            let served = await server.talker()
            _ = await served.waitForEnd()
            server.listener.close()
        }
    }

    @Test func `a port that nobody listens on refuses with the address in the message`()
        async throws
    {
        try await onLoop { loop in
            let server = try EchoServer(loop, tls: nil)
            let port = server.listener.address.port
            server.listener.close()
            let error = await #expect(throws: ConnectionError.self) {
                try await Connection.dial(
                    host: "127.0.0.1", port: port, tls: nil, on: loop, within: .seconds(30))
            }
            #expect(error?.kind == .refused)
            #expect(error?.message.contains("127.0.0.1:\(port)") == true)
        }
    }

    @Test func `every address of a name is tried, and one that hangs has only its share of time`()
        async throws
    {
        try await onLoop { loop in
            let server = try EchoServer(loop, tls: nil)
            let closed = try EchoServer(loop, tls: nil).listener
            closed.close()
            let deaf = DeafPort()
            let connection = try await Connection.dial(
                [closed.address, deaf.address, server.listener.address], of: "localhost",
                tls: nil, on: loop, until: loop.now + .seconds(4))
            #expect(connection.peer.port == server.listener.address.port)
            connection.abort()
            let error = await #expect(throws: ConnectionError.self) {
                try await Connection.dial(
                    [closed.address, deaf.address], of: "localhost", tls: nil, on: loop,
                    until: loop.now + .seconds(2))
            }
            #expect(error?.kind == .timedOut)
            #expect(error?.message.contains(deaf.address.description) == true)
            server.listener.close()
            withExtendedLifetime(deaf) {}
        }
    }

    @Test func `a name without address and a port out of range are refused`() async throws {
        try await onLoop { loop in
            for (host, port) in [("no-such-name.invalid", 443), ("127.0.0.1", 65_536), ("", 1)] {
                let error = await #expect(throws: ConnectionError.self) {
                    try await Connection.dial(
                        host: host, port: port, tls: nil, on: loop, within: .seconds(20))
                }
                #expect(error?.kind == .unresolved)
            }
        }
    }

    @Test func `a peer that says nothing in the handshake is left at the deadline`() async throws {
        let authority = try TestAuthority()
        try await onLoop { loop in
            let server = try EchoServer(loop, tls: nil) { _ in }
            let error = await #expect(throws: ConnectionError.self) {
                try await Connection.dial(
                    host: "127.0.0.1", port: server.listener.address.port, tls: authority.client,
                    on: loop, within: .milliseconds(30))
            }
            #expect(error?.kind == .timedOut)
            server.listener.close()
        }
    }

    @Test func `a port in use and a name to listen at are refused in words`() async throws {
        try await onLoop { loop in
            let server = try EchoServer(loop, tls: nil)
            let port = server.listener.address.port
            for place in [
                ListenAddress(host: "127.0.0.1", port: port),
                ListenAddress(host: "example.org", port: 0),
                ListenAddress(host: "127.0.0.1", port: -1),
            ] {
                let error = #expect(throws: ConnectionError.self) {
                    try Listener(on: loop, at: place, tls: nil)
                }
                #expect(error?.kind == .local)
            }
            server.listener.close()
        }
    }

    @Test func `a socket that listens already is taken over, and what is none is refused`()
        async throws
    {
        try await onLoop { loop in
            // The kernel binds a socket that listens without an address to any, and a free port.
            let bound = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            try #require(listen(bound, 8) == 0)
            let inherited = try InheritedSocket(descriptor: bound)
            #expect(inherited.address.host == "0.0.0.0" && inherited.address.port > 0)
            #expect(fcntl(bound, F_GETFD) == FD_CLOEXEC)
            let heir = try Listener(on: loop, inheriting: inherited, tls: nil)
            #expect(heir.address.port == inherited.address.port)
            heir.close()
        }
        let quiet = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        let datagrams = socket(AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        let local = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let file = open("/dev/null", O_RDONLY)
        defer { for descriptor in [quiet, datagrams, local, file] { close(descriptor) } }
        for (descriptor, expected) in [
            (quiet, "does not listen"), (datagrams, "is no TCP socket"),
            (local, "is no TCP socket"), (file, "cannot be listened on"),
        ] {
            let error = #expect(throws: ConnectionError.self) {
                try InheritedSocket(descriptor: descriptor)
            }
            #expect(error?.message.contains(expected) == true, "\(String(describing: error))")
        }
    }
}
