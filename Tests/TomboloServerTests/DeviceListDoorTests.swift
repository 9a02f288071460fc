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
