import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

/// `POST /v1/upstreams/{app}/retry`: a closed upstream tries at once.
@Suite struct UpstreamDoorTests {
    private static let path = "/v1/upstreams/com.example.app/retry"

    /// A card whose pushes wait, because Apple refuses the key.
    private static func close(_ doors: DoorsUnderTest, wait seconds: Int = 1) async throws {
        try await doors.putToken("activity:cat", "cc33")
        doors.sender.verdict = .rejected(
            status: 403, reason: "InvalidProviderToken", reaches: .providerToken,
            tokenGoneSince: nil)
        try await doors.startAdopted(wait: seconds)
    }

    /// A member of the only upstream in an answer.
    private static func upstream(_ answer: JSONView, _ name: String) -> JSONView? {
        answer["upstreams"]?.elements.first { _ in true }?[name]
    }

    @Test func `a push tries at once, and a dry run tries nothing`() async throws {
        try await withPhone { doors in
            try await Self.close(doors, wait: 0)
            var tried = try json(try await doors.call("POST", Self.path + "?dry_run=true"))
            for _ in 1...20 where Self.upstream(tried, "closed")?.bool == false {
                tried = try json(try await doors.call("POST", Self.path + "?dry_run=true"))
            }
            let failed = doors.sender.pushes.count
            #expect(Self.upstream(tried, "closed")?.bool == true)
            #expect(
                Self.upstream(tried, "cause")?.string == "Apple answers 403 InvalidProviderToken")
            _ = try await doors.call("POST", Self.path + "?dry_run=true")
            // The relay's own next try comes after a second at least.
            #expect(doors.sender.pushes.count == failed)
            doors.sender.verdict = nil
            let done = try json(
                try await doors.call("POST", Self.path + "?environment=sandbox"))
            #expect(Self.upstream(done, "closed")?.bool == true)
            for _ in 1...20 where doors.sender.pushes.count == failed {
                _ = try await doors.call("GET", "/livez")
            }
            #expect(doors.sender.pushes.count == failed + 1)
            // A fact is stored with the next event.
            _ = try await doors.call("PATCH", "/v1/activities/cat", #"{"state":{"n":2}}"#)
            let facts = try json(try await doors.call("GET", "/v1/log?fact=upstream.retried"))
            #expect(facts["events"]?.count == 1)
            let again = try json(try await doors.call("POST", Self.path))
            #expect(Self.upstream(again, "closed")?.bool == false)
        }
    }

    @Test func `the cause of a closed upstream is the reason of what waits`() async throws {
        try await withPhone { doors in
            try await Self.close(doors)
            let sentence =
                "The pushes of this app wait: Apple answers 403 InvalidProviderToken."
            let view = try json(try await doors.call("GET", "/v1/activities/cat"))
            let destination = view["destinations"]?.elements.first { _ in true }
            #expect(destination?["waiting"]?["reason_text"]?.string == sentence)
            let overview = try json(try await doors.call("GET", "/v1/overview"))
            let slowest = overview["slowest"]?.elements.first { _ in true }
            #expect(slowest?["waiting"]?["reason_text"]?.string == sentence)
            let update = try json(
                try await doors.call("PATCH", "/v1/activities/cat", #"{"state":{"n":2}}"#))
            #expect(update["decision"]?["reason_text"]?.string == sentence)
            let lint = update["lint"]?.elements.first { $0["code"]?.string == "upstream-closed" }
            #expect(lint?["message"]?.string?.contains("403 InvalidProviderToken") == true)
        }
    }

    @Test func `who operates the relay tries an app of another tenant, and an open one is no deed`()
        async throws
    {
        let other = TenantID(Identifier("other")!)
        let theirs = DoorsUnderTest.apps.map {
            var app = $0
            app.tenant = other
            return app
        }
        try await withDoors(apps: theirs) { doors in
            for path in [Self.path + "?dry_run=true", Self.path] {
                let answer = try await doors.call("POST", path)
                #expect(answer.status == 200, "\(answer.text)")
                #expect(Self.upstream(try json(answer), "closed")?.bool == false)
            }
            _ = try await doors.call("PUT", "/v1/devices/d", "{}")
            let facts = try json(try await doors.call("GET", "/v1/log?fact=upstream.retried"))
            #expect(facts["events"]?.count == 0)
        }
    }

    @Test func `an app of nobody, of another tenant or of another environment is not tried`()
        async throws
    {
        try await withPhone { doors in
            let other = try await doors.mint("operate", tenant: TenantID(Identifier("other")!))
            #expect(try await doors.call("POST", Self.path, key: other).status == 422)
            for path in [
                "/v1/upstreams/com.example.other/retry", Self.path + "?environment=production",
            ] {
                let answer = try await doors.call("POST", path)
                #expect(try json(answer)["code"]?.string == "unknown-app", "\(answer.text)")
            }
            let word = try await doors.call("POST", Self.path + "?environment=live")
            #expect(word.status == 400)
        }
    }
}
