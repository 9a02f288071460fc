import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

@Suite struct LogDoorTests {
    private static func fill(_ doors: DoorsUnderTest) async throws {
        _ = try await doors.call(
            "POST", "/v1/events",
            """
            {"id":"e1","activity":"cat-7","do":"start","type":"Cat","state":{"lap":1}}
            {"id":"e2","activity":"dog-1","do":"start","type":"Dog","state":{"lap":1}}
            {"id":"e3","activity":"cat-7","do":"update","state":{"lap":2}}
            """)
    }

    @Test func `the log is read in pages, filtered and one by one`() async throws {
        try await withDoors { doors in
            try await Self.fill(doors)
            let all = try json(try await doors.call("GET", "/v1/log"))
            #expect(all["events"]?.elements.map { $0["seq"]?.integer } == [1, 2, 3])
            #expect(all["next_cursor"]?.isNull == true)
            let first = try json(try await doors.call("GET", "/v1/log?limit=2"))
            let cursor = try #require(first["next_cursor"]?.string)
            let rest = try json(try await doors.call("GET", "/v1/log?limit=2&cursor=\(cursor)"))
            #expect(rest["events"]?.elements.map { $0["seq"]?.integer } == [3])
            let cats = try json(try await doors.call("GET", "/v1/log?activity=cat-7&since=1"))
            let event = try #require(cats["events"]?.elements.first { _ in true })
            #expect(event["seq"]?.integer == 3)
            #expect(event["do"]?.string == "update")
            #expect(event["version"]?.integer == 2)
            #expect(event["idempotency_key"]?.string == "e3")
            let one = try await doors.call("GET", "/v1/log/3")
            #expect(try json(one)["activity"]?.string == "cat-7")
            #expect(one.text.contains(#""body":{"id":"e3","activity":"cat-7","do":"update""#))
        }
    }

    @Test func `a page of a thousand large events has a bound in bytes`() async throws {
        try await withDoors { doors in
            _ = try await doors.call(
                "PUT", "/v1/activities/cat-7", #"{"type":"Cat","state":{"lap":0}}"#)
            let frame = "\"" + String(repeating: "x", count: 3_000) + "\""
            let frames = Array(repeating: frame, count: 20).joined(separator: ",")
            for lap in 2...40 {
                _ = try await doors.call(
                    "POST", "/v1/events",
                    """
                    {"id":"e\(lap)","activity":"cat-7","do":"play","flipbook":{"path":"/lap",\
                    "frames":[\(frames)],"every":"10m","loop":"forever"}}
                    """)
            }
            var (path, seqs, pages): (String, [Int64], Int) = ("/v1/log?limit=1000", [], 0)
            while true {
                let page = try await doors.call("GET", path)
                #expect(page.text.utf8.count < 1_200_000)
                let log = try json(page)
                seqs += log["events"]?.elements.compactMap { $0["seq"]?.integer } ?? []
                pages += 1
                guard let cursor = log["next_cursor"]?.string else { break }
                path = "/v1/log?limit=1000&cursor=\(cursor)"
            }
            #expect(seqs == Array(1...40))
            #expect(pages == 3)
        }
    }

    @Test func `facts and commands are read together by time, page by page`() async throws {
        let log = InMemoryEventLog()
        var batch = AppendBatch()
        batch.facts = (0..<3).map { index in
            NewFact(
                tenant: DoorsUnderTest.tenant, activity: nil, kind: "test.fact",
                recordedAt: Instant(seconds: 1_000 + index), body: Array("{}".utf8))
        }
        _ = try await log.append(batch)
        try await withDoors(log: log) { doors in
            try await Self.fill(doors)
            let facts = try json(try await doors.call("GET", "/v1/log?kind=fact&since=1"))
            #expect(facts["events"]?.elements.map { $0["seq"]?.integer } == [2, 3, 4])
            #expect(facts["events"]?.elements.first { _ in true }?["fact"]?.string == "test.fact")
            var seen: [String] = []
            var cursor: String?
            repeat {
                let path = "/v1/log?kind=all&limit=2" + (cursor.map { "&cursor=\($0)" } ?? "")
                let page = try json(try await doors.call("GET", path))
                seen += page["events"]?.elements.compactMap { $0["kind"]?.string } ?? []
                cursor = page["next_cursor"]?.string
            } while cursor != nil
            // The last one is that the relay began.
            #expect(
                seen == [String](repeating: "fact", count: 4)
                    + Array(repeating: "command", count: 3))
        }
    }

    @Test func `a tail tells history and then what comes, as server-sent events`() async throws {
        try await withDoors { doors in
            try await Self.fill(doors)
            let tail = try doors.curl(
                "GET", "/v1/tail?activity=cat-7", fields: ["Last-Event-ID: 1"], options: ["-N"])
            defer { tail.end() }
            let history = await tail.wait { $0.contains("\"seq\":3") }
            #expect(history.contains("text/event-stream"))
            #expect(!history.contains("\"seq\":2"))
            _ = try await doors.call("POST", "/v1/activities/dog-1/end")
            _ = try await doors.call("POST", "/v1/activities/cat-7/end")
            let live = await tail.wait { $0.contains("\"seq\":5") && $0.hasSuffix("\n\n") }
            #expect(live.contains("\nevent: end\ndata: {\"seq\":5,"), "\(live)")
            #expect(!live.contains("\"seq\":4"))
        }
    }

    @Test(arguments: ["text/event-stream", "application/x-ndjson"])
    func `a body with line breaks is one line of the tail`(_ accept: String) async throws {
        try await withDoors { doors in
            // As a log of before may have it: the doors keep no line breaks.
            let body = Array("{\n \"type\": \"Cat\",\r\n \"state\": {\"a\\nb\": 1}\n}".utf8)
            let start = try Command.Content(kind: .start, JSONDocument(body).root)
            let key = ActivityKey(tenant: DoorsUnderTest.tenant, id: Identifier("cat-7")!)
            _ = await doors.relay.submit(Command(activity: key, content: start, body: body))
            let tail = try doors.curl(
                "GET", "/v1/tail?since=0", fields: ["Accept: \(accept)"], options: ["-N"])
            defer { tail.end() }
            let text = await tail.wait { $0.contains("\"}\n") }
            let line = text.split(separator: "\n").first { $0.contains("\"seq\":1") }
            #expect(
                line?.contains(#"  "state": {"a\nb": 1} },"cursor":"#) == true, "\(text)")
        }
    }

    @Test(arguments: ["text/event-stream", "application/x-ndjson"])
    func `a tail has no line ends but its own, and no proxy gathers it or a batch`(
        _ accept: String
    ) async throws {
        try await withDoors { doors in
            let batch = try await doors.call(
                "POST", "/v1/events",
                #"{"activity":"cat-7","do":"start","type":"Cat","#
                    + #""state":{"a":"é“1\#u{2028}2\#u{2029}3\#u{85}4"}}"#)
            #expect(batch.fields["x-accel-buffering"] == "no")
            let tail = try doors.curl(
                "GET", "/v1/tail?since=0", fields: ["Accept: \(accept)"], options: ["-N"])
            defer { tail.end() }
            let text = await tail.wait { $0.contains("\"}\n") }
            #expect(text.lowercased().contains("x-accel-buffering: no\r\n"))
            #expect(text.contains(#""state":{"a":"é“1\u20282\u20293\u00854"}"#), "\(text)")
        }
    }

    @Test func `a tail without a place begins now, as lines, and ends when the relay stops`()
        async throws
    {
        try await withDoors {
            // curl shows the head only with the first of the body.
            $0.heartbeat = .milliseconds(50)
        } _: { doors in
            try await Self.fill(doors)
            let tail = try doors.curl(
                "GET", "/v1/tail?type=Dog", fields: ["Accept: application/x-ndjson"],
                options: ["-N"])
            defer { tail.end() }
            _ = await tail.wait { $0.contains("application/x-ndjson") }
            _ = try await doors.call("POST", "/v1/activities/cat-7/end")
            _ = try await doors.call("POST", "/v1/activities/dog-1/end")
            let live = await tail.wait { $0.contains("\"seq\":5") }
            #expect(!live.contains("\"seq\":4"))
            #expect(!live.contains("\"seq\":1"))
            doors.doors.drain()
            _ = await tail.wait()
            #expect(tail.hasEnded)
        }
    }

    @Test func `the head of a tail ends at once`() async throws {
        try await withDoors { doors in
            let head = try await doors.call("HEAD", "/v1/tail")
            #expect(head.status == 200)
            #expect(head.fields["content-type"] == "text/event-stream")
        }
    }

    @Test func `a silent tail says that it lives`() async throws {
        try await withDoors {
            $0.heartbeat = .milliseconds(20)
        } _: { doors in
            let tail = try doors.curl("GET", "/v1/tail", options: ["-N"])
            defer { tail.end() }
            let text = await tail.wait { $0.contains(": heartbeat\n\n: heartbeat\n\n") }
            #expect(text.contains(": heartbeat"))
        }
    }
}
