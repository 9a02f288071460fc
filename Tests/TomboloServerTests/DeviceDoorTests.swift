import Testing
import TomboloJSON

@testable import TomboloServer

@Suite struct DeviceDoorTests {
    @Test func `a device is registered, shown without its tokens' secrets, and deleted`()
        async throws
    {
        try await withPhone { doors in
            let shown = try await doors.call("GET", "/v1/devices/phone-1")
            #expect(try json(shown)["class"]?.string == "lab")
            #expect(shown.text.contains("00112233…"))
            #expect(!shown.text.contains("0011223344"))
            let again = try await doors.call(
                "PUT", "/v1/devices/phone-1", #"{"app":"com.example.app","environment":"sandbox"}"#)
            #expect(again.status == 200)
            #expect(try await doors.call("DELETE", "/v1/devices/phone-1").status == 200)
            #expect(try await doors.call("GET", "/v1/devices/phone-1").status == 404)
        }
    }

    @Test func `a token for an activity that nobody knows is kept`() async throws {
        try await withPhone { doors in
            let token = try await doors.call(
                "PUT", "/v1/devices/phone-1/tokens/activity:early-1", #"{"token":"aabb"}"#)
            #expect(token.status == 202)
            #expect(try json(token)["result"]?.string == "kept")
            let path = "/v1/devices/phone-1/tokens/activity:early-1"
            #expect(try await doors.call("DELETE", path).status == 422, "it names no token")
            let other = try await doors.call("DELETE", path, #"{"token":"aabc"}"#)
            #expect(try json(other)["result"]?.string == "outdated")
            let gone = try await doors.call("DELETE", path, #"{"token":"aabb"}"#)
            #expect(try json(gone)["result"]?.string == "deleted")
        }
    }

    @Test func `what a phone shows is told with the activity`() async throws {
        try await withPhone { doors in
            _ = try await doors.call("PUT", "/v1/activities/cat-7", startCat)
            let presence = try await doors.call(
                "PUT", "/v1/devices/phone-1/presence",
                #"{"app":"com.example.app","phase":"background"}"#)
            #expect(presence.status == 200)
            let report = try await doors.call(
                "PUT", "/v1/devices/phone-1/activities/cat-7",
                #"{"phase":"active","shown_state":{"lap":"1/5","speed":1.50},"shown_count":1}"#)
            #expect(report.status == 200)
            let shown = try json(try await doors.call("GET", "/v1/activities/cat-7"))
            let destination = try #require(shown["destinations"]?.elements.first { _ in true })
            #expect(destination["device"]?.string == "phone-1")
            #expect(destination["shown"]?["phase"]?.string == "active")
            #expect(destination["shown"]?["count"]?.integer == 1)
            #expect(destination["shown"]?["matches"]?.bool == true)
            #expect(destination["frames"]?["skipped_by"]?["slowed"]?.integer == 0)
        }
    }
}
