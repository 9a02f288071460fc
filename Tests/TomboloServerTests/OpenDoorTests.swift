import Testing
import TomboloCore
import TomboloHTTP
import TomboloJSON
import TomboloLoop
import TomboloRelay

@testable import TomboloServer

@Suite struct OpenDoorTests {
    @Test func `a refusal of the server itself is a problem with a page`() async throws {
        try await withDoors { doors in
            for problem in HTTPServerProblem.all {
                let page = try await doors.call("GET", "/problems/\(problem.code)")
                #expect(page.status == 200, "\(problem.code)")
                #expect(page.text.contains("code \(problem.code)"))
            }
            let answer = try await doors.call(
                "GET", "/livez", options: ["--http1.1", "-H", "Content-Length: x"])
            #expect(answer.status == 400)
            #expect(answer.fields["content-type"] == "application/problem+json")
            #expect(try json(answer)["type"]?.string == "/problems/bad-content-length")
        }
    }

    @Test func `whether it lives and is ready needs no key`() async throws {
        try await withDoors { doors in
            for path in ["/livez", "/readyz", "/version", "/openapi.json", "/problems"] {
                let curl = try Curl([doors.origin + path], on: doors.loop)
                _ = await curl.wait()
                #expect(try #require(CurlAnswer(output: curl.collected)).status == 200)
            }
            for (accept, isJSON) in [
                ("application/json;q=0", false), ("text/plain, Application/JSON; q=0.5", true),
                ("application/jsonish", false),
            ] {
                let ready = try await doors.call("GET", "/readyz", fields: ["Accept: \(accept)"])
                #expect(ready.text.hasPrefix("{") == isJSON, "\(accept): \(ready.text)")
            }
            let version = try json(try await doors.call("GET", "/version"))
            #expect(version["version"]?.string == "0.0.0-test")
            doors.doors.drain()
            #expect(try await doors.call("GET", "/readyz").status == 503)
            let stopping = try await doors.call(
                "GET", "/readyz", fields: ["Accept: application/json"])
            #expect(stopping.status == 503 && stopping.text.contains(#""status":"stopping""#))
            #expect(try await doors.call("GET", "/livez").status == 200)
        }
    }

    @Test func `a browser gets pages, with the address at which it reached the relay`() async throws
    {
        try await withDoors { doors in
            let browser = ["Accept: text/html,*/*;q=0.8", "Host: relay.example:9"]
            let home = try await doors.call("GET", "/", fields: browser)
            #expect(home.status == 303 && home.fields["location"] == "/console/")
            #expect(try await doors.call("GET", "/").text.contains("/openapi.json"))
            let page = try await doors.call("GET", "/problems/unknown-route", fields: browser)
            #expect(page.fields["content-type"] == "text/html; charset=utf-8")
            #expect(page.text.contains("<pre>curl http://relay.example:9/openapi.json</pre>"))
            let all = try await doors.call("GET", "/problems", fields: browser)
            #expect(all.text.contains(#"<a href="/problems/unknown-route">"#))
            let secure = try await doors.call(
                "GET", "/problems/unknown-route",
                fields: ["Host: relay.example", "X-Forwarded-Proto: https"])
            #expect(secure.text.contains("curl https://relay.example/openapi.json"))
            let hostile = try await doors.call(
                "GET", "/problems/unknown-route", fields: ["Host: a;rm-x", browser[0]])
            #expect(!hostile.text.contains("rm-x"))
        }
    }

    @Test(arguments: [
        ("gzip", true), ("br, GZIP;q=0.5", true), ("*", true), ("gzip;q=0, *", false),
        ("gzip; q=0.0", false), ("identity", false), ("", false), ("*;q=0", false),
    ])
    func `what is compressed goes to who takes it`(accept: String, isTaken: Bool) async throws {
        let fields = HTTPFields(dictionaryLiteral: ("accept-encoding", accept))
        #expect(fields.acceptsGzip == isTaken)
        try await withDoors { doors in
            for path in ["/openapi.json", "/console/main.js"] {
                let answer = try await doors.call(
                    "HEAD", path, fields: ["Accept-Encoding: \(accept)"])
                #expect((answer.fields["content-encoding"] == "gzip") == isTaken)
                #expect(answer.fields["vary"] == "accept-encoding")
            }
        }
    }

    @Test func `metrics need a key, and count`() async throws {
        try await withDoors { doors in
            _ = try await doors.call("PUT", "/v1/activities/cat-7", startCat)
            _ = try await doors.call("GET", "/v1/activities/nobody")
            let metrics = try await doors.call("GET", "/metrics")
            #expect(metrics.fields["content-type"]?.contains("version=0.0.4") == true)
            #expect(metrics.lines.contains("tombolo_events_accepted_total 1"))
            #expect(
                metrics.lines.contains(
                    #"tombolo_http_requests_total{operation="startActivity",status="201"} 1"#))
            #expect(
                metrics.lines.contains(#"tombolo_http_problems_total{code="unknown-activity"} 1"#))
            let other = try await doors.mint("observe", tenant: TenantID(Identifier("other")!))
            let none = try await doors.call("GET", "/metrics", key: other)
            #expect(none.lines.contains("tombolo_events_accepted_total 0"))
            #expect(none.lines.contains("tombolo_activities_live 0"))
            #expect(
                none.lines.contains(
                    #"tombolo_http_requests_total{operation="startActivity",status="200"} 0"#))
            #expect(none.lines.contains("tombolo_log_last_seq 0"), "its own newest")
            #expect(metrics.lines.contains("tombolo_log_last_seq 1"))
            let curl = try Curl([doors.origin + "/metrics"], on: doors.loop)
            _ = await curl.wait()
            #expect(try #require(CurlAnswer(output: curl.collected)).status == 401)
        }
    }

    @Test func `a stop ends the waits for Apple: what is stored is answered`() async throws {
        try await withPhone { doors in
            try await doors.putToken("activity:cat", "cc33")
            doors.sender.isSilent = true
            async let start = doors.call(
                "PUT", "/v1/activities/cat",
                #"{"type":"Cat","audience":{"device":"phone-1","start":"adopt"},"state":{"n":1}}"#,
                fields: ["Prefer: wait=20"])
            while doors.sender.pushes.isEmpty { try await doors.loop.sleep(for: .milliseconds(1)) }
            let began = doors.loop.now
            await doors.relay.endWaits()
            let answer = try await start
            #expect(answer.status == 201, "\(answer.text)")
            #expect(answer.text.contains(#""version":1"#))
            #expect(doors.loop.now < began + .seconds(10), "nobody waited for Apple")
        }
    }
}
