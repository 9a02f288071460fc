import TestSupport
import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

@Suite struct DeviceListDoorTests {
    /// Four devices: two of Ada, on three versions of the system.
    private static func register(_ doors: DoorsUnderTest) async throws {
        for (name, body) in [
            ("d1", #"{"user":"ada","app":"com.example.app","os":"26.1"}"#),
            ("d2", #"{"user":"bob","app":"com.example.app","os":"26"}"#),
            ("d3", #"{"user":"ada","app":"com.example.app","os":"260.1"}"#),
            ("d4", #"{"app":"com.example.app"}"#),
        ] {
            let answer = try await doors.call("PUT", "/v1/devices/\(name)", body)
            #expect(answer.status < 300, "\(answer.text)")
        }
    }

    private static func names(
        _ doors: DoorsUnderTest, _ query: String, key: String? = nil
    ) async throws -> [String] {
        let answer = try await doors.call("GET", "/v1/devices?\(query)", key: key)
        #expect(answer.status == 200, "\(answer.text)")
        return try json(answer)["devices"]?.elements.compactMap { $0["device"]?.string } ?? []
    }

    @Test(arguments: [
        ("user=ada", ["d1", "d3"]), ("user=ad", []), ("app=com.example.app&user=bob", ["d2"]),
        ("app=com.example.other", []), ("os=26", ["d1", "d2"]), ("os=26.1", ["d1"]),
        ("os=26&user=ada", ["d1"]), ("silent_for=1h", []), ("", ["d1", "d2", "d3", "d4"]),
    ])
    func `a filter leaves out the others`(query: String, expected: [String]) async throws {
        try await withDoors { doors in
            try await Self.register(doors)
            #expect(try await Self.names(doors, query) == expected)
        }
    }

    @Test func `a page goes on with its filter`() async throws {
        try await withDoors { doors in
            try await Self.register(doors)
            let first = try json(try await doors.call("GET", "/v1/devices?user=ada&limit=1"))
            #expect(first["devices"]?.elements.compactMap { $0["device"]?.string } == ["d1"])
            let cursor = try #require(first["next_cursor"]?.string)
            #expect(try await Self.names(doors, "user=ada&cursor=\(cursor)") == ["d3"])
        }
    }

    @Test func `another tenant's devices match nothing`() async throws {
        try await withDoors { doors in
            try await Self.register(doors)
            let other = try await doors.mint("observe", tenant: TenantID(Identifier("other")!))
            #expect(try await Self.names(doors, "user=ada", key: other) == [])
        }
    }

    @Test func `a row says when it was seen, what it shows, and what is left and missing`()
        async throws
    {
        try await withPhone { doors in
            _ = try await doors.call(
                "PUT", "/v1/activities/cat-7", startCat, fields: ["Prefer: wait=2"])
            let list = try json(try await doors.call("GET", "/v1/devices"))
            let row = try #require(list["devices"]?.elements.first { _ in true })
            #expect(row["last_seen"]?.string != nil)
            #expect(row["shows"]?["count"]?.integer == 1)
            #expect(row["shows"]?["activities"]?.elements.compactMap(\.string) == ["cat-7"])
            #expect(row["budget"]?["text"]?.string?.isEmpty == false)
            #expect(row["missing"]?.elements != nil)
        }
    }

    /// A page costs the loop what its cards cost, also where each device is small.
    @Test func `a page ends where its cards are many`() async throws {
        try await withDoors { doors in
            for number in 1...20 {
                let body = #"{"user":"ada","app":"com.example.app","environment":"sandbox"}"#
                _ = try await doors.call("PUT", "/v1/devices/d\(number)", body)
            }
            let starts = (1...400).map {
                #"{"activity":"a\#($0)","do":"start","type":"T","state":{},"audience":{"user":"ada"}}"#
            }
            _ = try await doors.call("POST", "/v1/events", starts.joined(separator: "\n"))
            let first = try json(try await doors.call("GET", "/v1/devices?limit=1000"))
            // What their cards come to would be more than 1 MiB.
            #expect((2...19).contains(first["devices"]?.count ?? 0))
            #expect(first["next_cursor"]?.string != nil)
        }
    }

    @Test func `after a restart a device was seen when its app was last heard`() async throws {
        let log = InMemoryEventLog()
        try await withDoors(log: log) { doors in try await Self.register(doors) }
        let later = FixedClock(after: .hours(2))
        try await withDoors(log: log, wallClock: later) { doors in
            let heard = try await doors.call(
                "PUT", "/v1/devices/d1/presence", #"{"phase":"active"}"#)
            #expect(heard.status < 300, "\(heard.text)")
        }
        try await withDoors(log: log, wallClock: later) { doors in
            let silent = try await Self.names(doors, "silent_for=1h")
            #expect(silent == ["d2", "d3", "d4"])
        }
    }

    @Test func `a span that cannot be read is refused`() async throws {
        try await withDoors { doors in
            for text in ["an-hour", "0s", "1"] {
                let answer = try await doors.call("GET", "/v1/devices?silent_for=\(text)")
                #expect(answer.status == 400)
                #expect(answer.text.contains("silent_for=\(text)"))
            }
        }
    }
}
