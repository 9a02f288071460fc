import Testing
import TomboloHTTP
import TomboloJSON
import TomboloLoop

@testable import TomboloServer

/// A key that is deleted while its requests run.
@Suite struct DeletedKeyDoorTests {
    private static func id(of key: String) throws -> String {
        try #require(key.split(separator: "_").dropFirst(2).first.map(String.init))
    }

    private static func delete(_ key: String, _ doors: DoorsUnderTest) async throws {
        #expect(try await doors.call("DELETE", "/v1/keys/\(try id(of: key))").status == 200)
    }

    /// A key as an operator mints it, through the API.
    private static func key(_ scope: String, _ doors: DoorsUnderTest) async throws -> String {
        let minted = try await doors.call("POST", "/v1/keys", #"{"scopes":["\#(scope)"]}"#)
        return try #require(try json(minted)["key"]?.string)
    }

    @Test(arguments: ["text/event-stream", "application/x-ndjson"])
    func `its tail shows no event that comes afterwards, and ends`(_ accept: String) async throws {
        try await withDoors { doors in
            let key = try await Self.key("observe", doors)
            let tail = try doors.curl(
                "GET", "/v1/tail", key: key, fields: ["Accept: \(accept)"], options: ["-N"])
            _ = await tail.wait { $0.contains("200") }
            _ = try await doors.call("PUT", "/v1/activities/cat-old", startCat)
            _ = await tail.wait { $0.contains("cat-old") }
            try await Self.delete(key, doors)
            _ = try await doors.call("PUT", "/v1/activities/cat-new", startCat)
            let text = await tail.wait()
            #expect(text.contains("cat-old"))
            #expect(!text.contains("cat-new"))
        }
    }

    private static func line(_ activity: String) -> String {
        #"{"activity":"\#(activity)","do":"start","type":"T","state":{}}"# + "\n"
    }

    @Test(arguments: [false, true])
    func `its upload stores no line that comes afterwards`(_ isAtomic: Bool) async throws {
        try await withDoors { doors in
            let key = try await Self.key("produce", doors)
            let upload = try await Upload(
                doors, "/v1/events\(isAtomic ? "?atomic=true" : "")", key: key)
            upload.send(Self.line("before"))
            if isAtomic {
                while !doors.hasOpenRequest { try await doors.loop.sleep(for: .zero) }
            } else {
                _ = await upload.wait { $0.contains(#""ok":true"#) }
            }
            try await Self.delete(key, doors)
            upload.send(Self.line("after"))
            upload.send("")
            let text = await upload.wait { $0.contains("unauthorized") }
            #expect(text.contains("unauthorized"))
            #expect(!text.contains(#""seq":2"#))
            upload.abort()
            #expect(try await doors.call("GET", "/v1/activities/after").status == 404)
            let before = try await doors.call("GET", "/v1/activities/before")
            #expect(before.status == (isAtomic ? 404 : 200))
        }
    }
}

extension DoorsUnderTest {
    /// Whether a request is open.
    fileprivate var hasOpenRequest: Bool { doors.uses.values.contains { $0.requests > 0 } }
}

/// A POST whose body is sent piece by piece, in chunks.
private final class Upload: ByteStreamOwner, @unchecked Sendable {
    // Sendable: used on its loop only.
    private let connection: Connection
    private let parking: Parking
    private var unsent: [UInt8] = []
    private var text = ""
    private var hasEnded = false

    init(_ doors: DoorsUnderTest, _ path: String, key: String) async throws {
        let port = try #require(doors.origin.split(separator: ":").last.flatMap { Int($0) })
        connection = try await Connection.dial(
            host: "127.0.0.1", port: port, tls: nil, on: doors.loop, within: .seconds(20))
        parking = Parking(doors.loop)
        unsent = Array(
            ("POST \(path) HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \(key)\r\n"
                + "Prefer: lines\r\nContent-Type: application/x-ndjson\r\n"
                + "Transfer-Encoding: chunked\r\n\r\n").utf8)
        connection.handOver(to: self)
        connection.resumeReading()
    }

    /// A chunk; an empty one is the last.
    func send(_ text: String) {
        unsent += Array("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n".utf8)
        connection.wantsOutput()
    }

    /// What has come when `condition` holds, or nothing more comes.
    func wait(until condition: (String) -> Bool) async -> String {
        while !condition(text), !hasEnded { await parking.park() }
        return text
    }

    func abort() { connection.abort() }

    func opened() {}

    func received(_ bytes: UnsafeRawBufferPointer) {
        text += String(decoding: bytes, as: UTF8.self)
        parking.unpark()
    }

    func fillOutput(_ output: OutputBuffer) {
        output.append(unsent)
        unsent = []
    }

    func inputEnded() { closed(nil) }

    func closed(_ error: ConnectionError?) {
        hasEnded = true
        parking.unpark()
    }
}
