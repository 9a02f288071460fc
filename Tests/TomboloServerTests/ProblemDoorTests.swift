import Testing
import TomboloCore
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

@Suite struct ProblemDoorTests {
    /// One request, and the problem it must get.
    struct Case: Sendable, CustomTestStringConvertible {
        let method: String
        let path: String
        var body: String?
        var fields: [String] = []
        let status: Int
        let code: String
        /// Words that must stand in the detail: where it is wrong, and the way out.
        let says: [String]

        var testDescription: String { "\(method) \(path) → \(code)" }
    }

    static let cases: [Case] = [
        Case(
            method: "PUT", path: "/v1/activities/x", body: "{\"type\":\n  \"T\",}", status: 400,
            code: "invalid-json", says: ["Line 2, column 7"]),
        Case(
            method: "PUT", path: "/v1/activities/x", body: "", status: 400,
            code: "invalid-json", says: ["empty"]),
        Case(
            method: "PUT", path: "/v1/activities/x", body: #"{"type":"T","state":{},"stat":1}"#,
            status: 422, code: "invalid-field", says: ["/stat", "unknown field", "\"state\""]),
        Case(
            method: "PUT", path: "/v1/activities/a~2", body: #"{"type":"T","state":{}}"#,
            status: 422, code: "invalid-field", says: ["id in the path"]),
        Case(
            method: "PUT", path: "/v1/activities/x",
            body: #"{"type":"T","state":{"image":"\#(String(repeating: "A", count: 5_000))"}}"#,
            status: 422, code: "payload-too-large", says: ["bytes"]),
        Case(
            method: "PUT", path: "/v1/activities/x",
            body: String(repeating: " ", count: 65_537), status: 413, code: "body-too-large",
            says: ["65536"]),
        Case(
            method: "PUT", path: "/v1/activities/x", body: "<a/>",
            fields: ["Content-Type: text/xml"], status: 415, code: "unsupported-media-type",
            says: ["text/xml", "application/json"]),
        Case(
            method: "PATCH", path: "/v1/activities/nobody", body: #"{"state":{}}"#, status: 404,
            code: "unknown-activity", says: ["nobody"]),
        Case(
            method: "GET", path: "/v1/activities/nobody", status: 404, code: "unknown-activity",
            says: ["nobody", "PUT"]),
        Case(
            method: "GET", path: "/v1/activites/x", status: 404, code: "unknown-route",
            says: ["/v1/activities/{id}"]),
        Case(
            method: "GET", path: "/activities", status: 404, code: "unknown-route",
            says: ["/v1/activities"]),
        Case(
            method: "DELETE", path: "/v1/activities/x", status: 405, code: "method-not-allowed",
            says: ["GET, HEAD, OPTIONS, PATCH, PUT"]),
        Case(
            method: "GET", path: "/v1/activities?statsu=active", status: 400,
            code: "invalid-query", says: ["statsu", "\"status\""]),
        Case(
            method: "GET", path: "/v1/log?limit=1001", status: 400, code: "invalid-query",
            says: ["1 to 1000"]),
        Case(
            method: "PUT", path: "/v1/activities/x?dry_run=", body: #"{"type":"A","state":{}}"#,
            status: 400, code: "invalid-query", says: ["dry_run=true"]),
        Case(
            method: "PUT", path: "/v1/activities/x?restart", body: #"{"type":"A","state":{}}"#,
            status: 400, code: "invalid-query", says: ["restart=false"]),
        Case(
            method: "PUT", path: "/v1/activities/x?dry_run=false&dry_run=true",
            body: #"{"type":"A","state":{}}"#, status: 400, code: "invalid-query",
            says: ["dry_run", "once"]),
        Case(
            method: "GET", path: "/v1/log?since=one&cursor=c1f0", status: 400,
            code: "invalid-query", says: ["since=one"]),
        Case(method: "GET", path: "/v1/log/99", status: 404, code: "unknown-event", says: ["99"]),
        Case(
            method: "GET", path: "/v1/devices/none", status: 404, code: "unknown-device",
            says: ["none"]),
        Case(
            method: "PUT", path: "/v1/devices/none/tokens/what", body: #"{"token":"aa"}"#,
            status: 422, code: "invalid-field", says: ["start:TYPE"]),
        Case(
            method: "GET", path: "/v1/tail", fields: ["Last-Event-ID: x"], status: 400,
            code: "invalid-header", says: ["id of an event"]),
        Case(
            method: "GET", path: "/v1/tail?since=one", fields: ["Last-Event-ID: 1"], status: 400,
            code: "invalid-query", says: ["since=one"]),
        Case(
            method: "GET", path: "/v2", status: 404, code: "unknown-route",
            says: ["/v1", "/openapi.json", "/console/", "/problems"]),
        Case(
            method: "PUT", path: "/v1/types/Order", body: #"{"schema":{}}"#, status: 422,
            code: "invalid-field", says: ["/schema", "did you mean \"state\""]),
        Case(
            method: "PUT", path: "/v1/devices/phone-1", body: #"{"os":"iOS 18.2"}"#, status: 422,
            code: "invalid-field", says: ["/os", "\"26.1\""]),
        Case(
            method: "POST", path: "/v1/events", body: #"{"activity":"x","do":"end"}"#,
            fields: ["Content-Type: application/x-www-form-urlencoded"], status: 415,
            code: "unsupported-media-type", says: ["application/x-ndjson", "--data-binary"]),
        Case(
            method: "GET", path: "/problems/none", status: 404, code: "unknown-problem",
            says: ["none"]),
        Case(
            method: "POST", path: "/v1/keys", body: #"{"scopes":["rule"]}"#, status: 422,
            code: "invalid-field", says: ["/scopes", "produce"]),
    ]

    @Test func `every refusal is a problem that names the way out, and stores nothing`()
        async throws
    {
        try await withDoors { doors in
            for one in Self.cases {
                let answer = try await doors.call(
                    one.method, one.path, one.body, fields: one.fields)
                #expect(answer.status == one.status, "\(one.testDescription): \(answer.text)")
                #expect(answer.fields["content-type"] == "application/problem+json")
                let problem = try json(answer)
                #expect(problem["code"]?.string == one.code, "\(one.testDescription)")
                #expect(problem["type"]?.string == "/problems/\(one.code)")
                #expect(problem["status"]?.integer == Int64(one.status))
                #expect(problem["trace_id"]?.string?.count == 32)
                let detail = problem["detail"]?.string ?? ""
                for word in one.says {
                    #expect(detail.contains(word), "\(one.testDescription): \(detail)")
                }
            }
            #expect(await doors.relay.lastSeq == 0)
        }
    }

    @Test func `a wrong method is told which are right`() async throws {
        try await withDoors { doors in
            let answer = try await doors.call("DELETE", "/v1/activities/x")
            #expect(answer.fields["allow"] == "GET, HEAD, OPTIONS, PATCH, PUT")
        }
    }

    /// A name that is nearly another is suggested to who may read it, whatever other tenants have.
    @Test func `a suggestion of a device or a user tells nobody what they may not read`()
        async throws
    {
        try await withPhone { doors in
            let produce = try await doors.mint("produce")
            let other = try await doors.mint("operate", tenant: TenantID(Identifier("other")!))
            let start = #"{"type":"T","state":{},"audience":{"device":"phone-9"}}"#
            func asks(_ key: String?) async throws -> Bool {
                try await doors.call("PUT", "/v1/activities/z?dry_run=true", start, key: key)
                    .text.contains("did you mean")
            }
            #expect(try await asks(nil))
            #expect(try await !asks(produce))
            for number in 0..<130 {
                _ = try await doors.call("PUT", "/v1/devices/p\(number)", "{}", key: other)
            }
            #expect(try await asks(nil), "another tenant's devices change nothing")
            for number in 0..<130 {
                _ = try await doors.call("PUT", "/v1/devices/q\(number)", "{}")
            }
            #expect(try await !asks(nil), "a fleet has names that are near one another")
        }
    }

    @Test func `a body at its limit is taken and one byte more is not`() async throws {
        try await withDoors { doors in
            let start = #"{"type":"T","state":{}}"#
            for (bytes, status) in [(65_536, 201), (65_537, 413)] {
                let padded = start + String(repeating: " ", count: bytes - start.utf8.count)
                let file = try TemporaryFile(padded)
                defer { file.remove() }
                let answer = try await doors.call("PUT", "/v1/activities/x", "@\(file.path)")
                #expect(answer.status == status)
            }
        }
    }

    @Test func `the trace of the caller is the trace of the problem`() async throws {
        try await withDoors { doors in
            let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
            let answer = try await doors.call(
                "GET", "/v1/activities/x", fields: ["traceparent: 00-\(trace)-00f067aa0ba902b7-01"])
            #expect(try json(answer)["trace_id"]?.string == trace)
        }
    }

    @Test func `every problem has a page with cause, fix and command`() async throws {
        try await withDoors { doors in
            let page = try await doors.call("GET", "/problems/activity-running")
            #expect(page.status == 200)
            for word in ["Cause", "Fix", "Command", "tombolo update"] {
                #expect(page.text.contains(word))
            }
            #expect(try await doors.call("GET", "/problems/").text.contains("/problems/overloaded"))
        }
    }
}
