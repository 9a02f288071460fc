import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

@Suite struct OverviewDoorTests {
    private func codes(_ doors: DoorsUnderTest, key: String? = nil) async throws -> [String] {
        let answer = try await doors.call("GET", "/v1/overview", key: key)
        #expect(answer.status == 200, "\(answer.text)")
        return try json(answer)["attention"]?.elements.compactMap { $0["code"]?.string } ?? []
    }

    @Test func `a relay at rest needs no attention`() async throws {
        try await withDoors { doors in
            #expect(try await codes(doors) == [])
            let answer = try json(try await doors.call("GET", "/v1/overview"))
            #expect(answer["tenant"]?.string == "main")
            #expect(
                answer["key"]?["scopes"]?.elements.compactMap(\.string)
                    == ["produce", "observe", "operate"])
            #expect(answer["slowest"]?.count == 0)
        }
    }

    @Test func `an activity that reaches nobody, a pause and a refusal need attention`()
        async throws
    {
        try await withDoors { doors in
            _ = try await doors.call(
                "PUT", "/v1/activities/alone", #"{"type":"Dog","state":{"n":1}}"#)
            #expect(try await codes(doors) == ["unreached"])
            try await doors.registerPhone()
            try await doors.putToken("activity:cat", "cc33")
            doors.sender.refusal = "BadTopic"
            try await doors.startAdopted()
            _ = try await doors.call("POST", "/v1/pauses", #"{"activity":"cat"}"#)
            #expect(try await codes(doors) == ["refused", "unreached", "paused"])
            let answer = try json(try await doors.call("GET", "/v1/overview"))
            let refused = try #require(answer["attention"]?.elements.first { _ in true })
            #expect(refused["text"]?.string?.contains("400 BadTopic") == true)
            #expect(refused["activity"]?.string == "cat")
            #expect(
                refused["try"]?.elements.compactMap(\.string)
                    == ["tombolo dead ls", "tombolo dead retry --activity cat"])
        }
    }

    @Test
    func `a closed upstream is told with its app, since when, why, and when it is tried again`()
        async throws
    {
        try await withPhone { doors in
            try await doors.putToken("activity:cat", "cc33")
            doors.sender.verdict = .rejected(
                status: 403, reason: "InvalidProviderToken", reaches: .providerToken,
                tokenGoneSince: nil)
            try await doors.startAdopted(wait: 1)
            let answer = try json(try await doors.call("GET", "/v1/overview"))
            let item = answer["attention"]?.elements.first {
                $0["code"]?.string == "upstream_closed"
            }
            let text = try #require(item?["text"]?.string)
            #expect(text.hasPrefix("Pushes of com.example.app (sandbox) wait since 20"), "\(text)")
            #expect(text.contains("Apple answers 403 InvalidProviderToken"), "\(text)")
            #expect(text.contains("The next try is at 20"), "\(text)")
            #expect(item?["app"]?.string == "com.example.app")
            #expect(item?["environment"]?.string == "sandbox")
            #expect(
                item?["try"]?.elements.compactMap(\.string)
                    == ["tombolo doctor", "tombolo upstream retry com.example.app"])
            let open = try await doors.call("GET", "/readyz", fields: ["Accept: application/json"])
            let readiness = try json(open)
            #expect(open.status == 200 && readiness["status"]?.string == "ready")
            let entry = try #require(readiness["entries"]?.elements.first { _ in true })
            #expect(entry["code"]?.string == "upstream_closed")
            #expect(entry["text"]?.string == "Pushes wait, for a way to Apple is closed.")
            #expect(readiness["entries"]?.count == 1)
            for word in ["com.example", "cat", "403"] { #expect(!open.text.contains(word)) }
            #expect(try await doors.call("GET", "/readyz").text == "ready\n")
        }
    }

    @Test func `a start that waits for a token names its type, and that nobody has registered it`()
        async throws
    {
        try await withPhone { doors in
            for type in ["Cat", "Runner"] {
                if type == "Runner" { _ = try await doors.call("PUT", "/v1/types/Runner", "{}") }
                _ = try await doors.call(
                    "PUT", "/v1/activities/\(type)",
                    #"{"type":"\#(type)","audience":{"device":"phone-1"},"state":{"n":1}}"#)
                let answer = try json(try await doors.call("GET", "/v1/overview"))
                let item = try #require(answer["attention"]?.elements.first { _ in true })
                #expect(item["code"]?.string == "no_token")
                let text = try #require(item["text"]?.string)
                #expect(text.contains("the type \(type)"), "\(text)")
                #expect(text.contains("not registered") == (type == "Cat"), "\(text)")
                _ = try await doors.call("POST", "/v1/activities/\(type)/end", "{}")
            }
        }
    }

    @Test func `a card that its user has swiped away needs attention`() async throws {
        try await withPhone { doors in
            try await doors.putToken("activity:cat", "cc33")
            try await doors.startAdopted()
            #expect(try await codes(doors) == [])
            _ = try await doors.call(
                "PUT", "/v1/devices/phone-1/activities/cat", #"{"phase":"dismissed","by":"user"}"#)
            #expect(try await codes(doors).contains("dismissed"))
            _ = try await doors.call("POST", "/v1/activities/cat/end", "{}")
            #expect(try await codes(doors) == [], "it has ended: nothing is to be done")
        }
    }

    @Test func `nothing of it tells of another tenant`() async throws {
        try await withDoors { doors in
            _ = try await doors.call(
                "PUT", "/v1/activities/alone", #"{"type":"Dog","state":{"n":1}}"#)
            _ = try await doors.call("POST", "/v1/pauses", #"{"all":true}"#)
            try await doors.registerPhone()
            _ = try await doors.call("PUT", "/v1/types/Dog", "{}")
            let other = try await doors.mint("observe", tenant: TenantID(Identifier("other")!))
            #expect(try await codes(doors, key: other) == [])
            let answer = try json(try await doors.call("GET", "/v1/overview", key: other))
            #expect(answer["last_seq"]?.integer == 0)
            #expect(answer["counters"]?["devices"]?.integer == 0)
            for path in ["/v1/devices", "/v1/types"] {
                let list = try json(try await doors.call("GET", path, key: other))
                #expect(list.members.first { _ in true }?.value.count == 0)
            }
        }
    }

    @Test func `devices and types are listed in their order, in pages`() async throws {
        try await withDoors { doors in
            for name in ["d2", "d1", "d3"] {
                _ = try await doors.call("PUT", "/v1/devices/\(name)", #"{"os":"26.1"}"#)
            }
            _ = try await doors.call("PUT", "/v1/channels/final", "{}")
            let first = try json(try await doors.call("GET", "/v1/devices?limit=2"))
            #expect(first["devices"]?.elements.compactMap { $0["device"]?.string } == ["d1", "d2"])
            let cursor = try #require(first["next_cursor"]?.string)
            let rest = try json(try await doors.call("GET", "/v1/devices?cursor=\(cursor)"))
            #expect(rest["devices"]?.elements.compactMap { $0["device"]?.string } == ["d3"])
            #expect(rest["next_cursor"]?.kind == .null)
            for name in ["Dog", "Cat"] {
                _ = try await doors.call("PUT", "/v1/types/\(name)", "{}")
            }
            let types = try json(try await doors.call("GET", "/v1/types"))
            #expect(types["types"]?.elements.compactMap { $0["type"]?.string } == ["Cat", "Dog"])
        }
    }
}
