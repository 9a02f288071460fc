import Glibc
import TestSupport
import Testing
import TomboloHTTP
import TomboloLoop

/// What comes in masses: bytes, and connections.
@Suite struct `The server's limits` {
    @Test func `a body of 1 GiB is refused before it is sent`() async throws {
        try await withServer { exchange in
            do {
                exchange.respond(200, [:], try await exchange.body(atMost: 65_536))
            } catch {
                // The server answers for us.
            }
        } _: { server in
            let file = try server.files.write("body", [])
            try #require(truncate(file, 1 << 30) == 0)
            let told = try await server.curl(
                "/",
                ["--http1.1", "-T", file, "-H", "Expect:", "-w", "|%{http_code} %{size_upload}"])
            let words = told.split(separator: "|").last?.split(separator: " ") ?? []
            try #require(words.count == 2, "\(told)")
            #expect(words[0] == "413")
            let sent = try #require(Int(words[1]))
            #expect(sent < 16 << 20, "what was on its way, and no more")
            // Debian's curl forgets an answer that comes before the end of its upload over HTTP/2.
            let frames = try await server.run(
                "/usr/bin/nghttp", ["-v", "-n", "-d", file, server.origin + "/"])
            #expect(frames.contains(":status: 413"))
            #expect(
                frames.split(separator: "\n").count { $0.contains("send DATA") } < 64,
                "a window of 16 KiB frames")
        }
    }

    @Test func `a server without descriptors rests, and serves when there are some again`() async {
        // The limit is of a whole process: this test has one of its own.
        await #expect(processExitsWith: .success) {
            try await withServer(answer: echo) { server in
                var limit = rlimit(rlim_cur: 48, rlim_max: 48)
                precondition(setrlimit(__rlimit_resource_t(7), &limit) == 0)
                var clients: [Int32] = []
                while case let client = connectedSocket(server.port), client >= 0 {
                    clients.append(client)
                }
                precondition(errno == EMFILE && clients.count > 10)
                // What was accepted so far has taken the rest: those behind wait in the kernel.
                try await server.loop.sleep(for: .milliseconds(250))
                let last = clients.removeLast()
                for client in clients { close(client) }
                let request = "GET /late HTTP/1.1\r\nHost: a\r\n\r\n"
                precondition(send(last, request, request.utf8.count, 0) == request.utf8.count)
                var answer = [UInt8](repeating: 0, count: 1_000)
                var count = -1
                for _ in 0..<500 where count <= 0 {
                    try await server.loop.sleep(for: .milliseconds(10))
                    count = recv(last, &answer, answer.count, Int32(MSG_DONTWAIT))
                }
                let text = String(decoding: answer.prefix(max(0, count)), as: UTF8.self)
                precondition(text.hasPrefix("HTTP/1.1 200 ") && text.hasSuffix("GET /late"))
                close(last)
            }
        }
    }
}

/// A socket that is connected to a port of this machine; below 0 where there is none to be had.
private func connectedSocket(_ port: Int) -> Int32 {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { return -1 }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    address.sin_port = UInt16(port).bigEndian
    let length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let connected = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, length)
        }
    }
    return connected == 0 ? descriptor : -1
}
