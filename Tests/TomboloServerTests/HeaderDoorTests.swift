import Testing
import TomboloJSON

@testable import TomboloServer

/// Fields of requests that nobody would send on purpose.
@Suite struct HeaderDoorTests {
    @Test(arguments: [
        ";", ";;", "a, ;", " ", ",", "=", "wait=", "wait=;", ";wait=1", "wait==1", "wait=1=1",
        "wait=-1", "wait=99999999999999999999", "\"", "wait",
    ])
    func `a preference that cannot be read is not followed, and the request goes on`(
        _ preference: String
    ) async throws {
        try await withDoors { doors in
            let start = try await doors.call(
                "PUT", "/v1/activities/cat-7", startCat, fields: ["Prefer: \(preference)"])
            #expect(start.status == 201)
            #expect(start.fields["preference-applied"] == nil)
        }
    }

    @Test func `a preference after one that cannot be read is followed`() async throws {
        try await withDoors { doors in
            let start = try await doors.call(
                "PUT", "/v1/activities/cat-7", startCat, fields: ["Prefer: ;, wait = 1; a=b"])
            #expect(start.fields["preference-applied"] == "wait=1")
        }
    }

    @Test(arguments: [
        "-", "---", "00", "00-", "--a-b-c-d", "00-00000000000000000000000000000000-1-0",
    ])
    func `a trace that cannot be read is replaced by a new one`(_ trace: String) async throws {
        try await withDoors { doors in
            let answer = try await doors.call(
                "GET", "/v1/nothing", fields: ["traceparent: \(trace)"])
            #expect(answer.status == 404)
            let id = try #require(try json(answer)["trace_id"]?.string)
            #expect(id.utf8.count == 32)
            #expect(id.contains { $0 != "0" })
        }
    }
}
