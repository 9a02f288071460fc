import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

/// `POST /v1/deliveries/{id}/retry`: the dead letter of one delivery.
@Suite struct RetryDoorTests {
    /// A phone with a card, one of whose updates Apple refused permanently; answers that delivery.
    private static func refused(_ doors: DoorsUnderTest) async throws -> String {
        try await doors.registerPhone()
        try await doors.putToken("activity:cat", "cc33")
        try await doors.startAdopted()
        doors.sender.refusal = "BadTopic"
        _ = try await doors.call(
            "PATCH", "/v1/activities/cat", #"{"state":{"n":2}}"#, fields: ["Prefer: wait=2"])
        doors.sender.refusal = nil
        return try await id(doors, "rejected")
    }

    private static func id(_ doors: DoorsUnderTest, _ result: String) async throws -> String {
        let list = try json(try await doors.call("GET", "/v1/deliveries?result=\(result)"))
        let first = list["deliveries"]?.elements.first { _ in true }
        return try #require(first?["id"]?.string)
    }

    private static func letters(_ doors: DoorsUnderTest) async throws -> Int? {
        try json(try await doors.call("GET", "/v1/dead-letters"))["dead_letters"]?.count
    }

    @Test func `what Apple refused in a delivery goes again, once, and the log says who asked`()
        async throws
    {
        try await withDoors { doors in
            let id = try await Self.refused(doors)
            let before = doors.sender.pushes.count
            let done = try await doors.call("POST", "/v1/deliveries/\(id)/retry")
            #expect(done.status == 200, "\(done.text)")
            #expect(done.text.contains(#"{"retried":1,"unreachable":0,"kept":[]}"#))
            #expect(doors.sender.pushes.count == before + 1)
            #expect(try await Self.letters(doors) == 0)
            let again = try await doors.call("POST", "/v1/deliveries/\(id)/retry")
            #expect(again.status == 409)
            #expect(try json(again)["code"]?.string == "not-a-dead-letter")
            let facts = try json(try await doors.call("GET", "/v1/log?kind=fact"))
            let deeds = facts["events"]?.elements.filter {
                $0["fact"]?.string == "dead-letters.retried"
            }
            #expect(deeds?.compactMap { $0["body"]?["delivery"]?.string } == [id])
        }
    }

    @Test func `a delivery that was not refused, or is not there, is no dead letter`() async throws
    {
        try await withDoors { doors in
            _ = try await Self.refused(doors)
            _ = try await doors.call(
                "POST", "/v1/dead-letters/retry", #"{"where":{}}"#, fields: ["Prefer: wait=2"])
            _ = try await doors.call(
                "PATCH", "/v1/activities/cat", #"{"state":{"n":3}}"#, fields: ["Prefer: wait=2"])
            let accepted = try await doors.call(
                "POST", "/v1/deliveries/\(try await Self.id(doors, "accepted"))/retry")
            #expect(accepted.status == 409)
            #expect(try json(accepted)["code"]?.string == "not-a-dead-letter")
            for id in ["dlv_99", "none"] {
                let unknown = try await doors.call("POST", "/v1/deliveries/\(id)/retry")
                #expect(unknown.status == 404)
                #expect(try json(unknown)["code"]?.string == "unknown-delivery")
            }
        }
    }

    @Test func `where the card is gone the refusal says so, and the dead letter stays`()
        async throws
    {
        try await withDoors { doors in
            let id = try await Self.refused(doors)
            _ = try await doors.call("DELETE", "/v1/devices/phone-1")
            for path in ["?dry_run=true", ""] {
                let refused = try await doors.call("POST", "/v1/deliveries/\(id)/retry\(path)")
                #expect(refused.status == 409)
                #expect(try json(refused)["code"]?.string == "nothing-to-send-to")
                #expect(refused.text.contains("does not know its card any more"))
            }
            #expect(try await Self.letters(doors) == 1)
            let all = try await doors.call("POST", "/v1/dead-letters/retry", #"{"where":{}}"#)
            let kept = try json(all)["kept"]?.elements.first { _ in true }
            #expect(try json(all)["retried"]?.integer == 0)
            #expect(kept?["reason"]?.string == "no_card" && kept?["count"]?.integer == 1)
            #expect(try await Self.letters(doors) == 1)
        }
    }

    @Test func `another tenant's delivery is not there`() async throws {
        try await withDoors { doors in
            let id = try await Self.refused(doors)
            let other = try await doors.mint("operate", tenant: TenantID(Identifier("other")!))
            let refused = try await doors.call("POST", "/v1/deliveries/\(id)/retry", key: other)
            #expect(refused.status == 404)
            #expect(try await Self.letters(doors) == 1)
        }
    }
}
