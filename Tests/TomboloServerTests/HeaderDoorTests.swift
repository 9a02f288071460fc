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

    @Test(arguments: [
        ["Authorization: Bearer x"], ["Idempotency-Key: a", "Idempotency-Key: b"],
        ["If-Match: \"v1\"", "If-Match: \"v2\""], ["Content-Type: a/b", "Content-Type: a/c"],
    ])
    func `a field that counts once is refused twice`(_ fields: [String]) async throws {
        try await withDoors { doors in
            let answer = try await doors.call(
                "PUT", "/v1/activities/cat-7", startCat, fields: fields)
            #expect(answer.status == 400)
            #expect(try json(answer)["code"]?.string == "invalid-header")
        }
    }

    @Test(arguments: [
        ("PUT", "/v1/activities/cat-7"), ("POST", "/v1/events"), ("PUT", "/v1/types/T"),
    ])
    func `a body that is compressed is refused`(_ method: String, _ path: String) async throws {
        try await withDoors { doors in
            let answer = try await doors.call(
                method, path, startCat, fields: ["Content-Encoding: gzip"])
            #expect(answer.status == 415)
            #expect(answer.fields["accept-encoding"] == "identity")
            let plain = try await doors.call(
                "PUT", "/v1/activities/cat-7", startCat, fields: ["Content-Encoding: identity"])
            #expect(plain.status == 201)
        }
    }

    @Test(arguments: RouteTable.routes.filter { $0.method != "GET" }.map(\.operation))
    func `an idempotency key is kept, or refused`(_ operation: TomboloServer.Operation)
        async throws
    {
        let route = try #require(RouteTable.routes.first { $0.operation == operation })
        try await withDoors { doors in
            let path = route.path.text.filter { !"{}".contains($0) }
            let answer = try await doors.call(
                route.method, path, "{}", fields: ["Idempotency-Key: once"])
            let isRefused = answer.text.contains("keeps no Idempotency-Key")
            #expect(isRefused != route.takesIdempotencyKey)
            #expect(!isRefused || answer.status == 400)
        }
    }
}
