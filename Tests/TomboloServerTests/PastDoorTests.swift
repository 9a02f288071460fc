import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

/// `GET /v1/activities/{id}?at=` and `?at_seq=`: as it was.
@Suite struct PastDoorTests {
    /// cat-7 started at event 1, changed at 2 and 4, ended at 5; 3 is another's.
    private func tell(_ doors: DoorsUnderTest) async throws {
        for (method, path, body) in [
            ("PUT", "cat-7", #"{"type":"T","state":{"lap":1,"name":"Mike"}}"#),
            ("PATCH", "cat-7", #"{"state":{"lap":2}}"#),
            ("PUT", "owl", #"{"type":"T","state":{}}"#),
            ("PATCH", "cat-7", #"{"state":{"lap":3}}"#),
            ("POST", "cat-7/end", #"{"state":{"lap":4}}"#),
        ] {
            let answer = try await doors.call(method, "/v1/activities/\(path)", body)
            #expect((200...201).contains(answer.status), "\(answer.text)")
        }
    }

    /// Within the minute by which a client's clock may be ahead.
    private static let soon = (FixedClock().now() + Span.seconds(50)).rfc3339

    @Test func `each event of the past shows the state of then`() async throws {
        try await withDoors { doors in
            try await tell(doors)
            for (seq, version, lap, status) in [
                (1, 1, 1, "active"), (2, 2, 2, "active"), (3, 2, 2, "active"),
                (4, 3, 3, "active"), (5, 4, 4, "ended"),
            ] {
                let answer = try await doors.call("GET", "/v1/activities/cat-7?at_seq=\(seq)")
                #expect(answer.status == 200)
                let view = try json(answer)
                #expect(view["version"]?.integer == Int64(version), "at \(seq)")
                #expect(view["state"]?["lap"]?.integer == Int64(lap))
                #expect(view["state"]?["name"]?.string == "Mike")
                #expect(view["status"]?.string == status)
                #expect(view["as_of"]?.string != nil)
                #expect(answer.fields["etag"]?.hasPrefix("\"v\(version)-") == true)
            }
        }
    }

    @Test func `each version shows the state that it made, also of the life before`() async throws {
        try await withDoors { doors in
            try await tell(doors)
            _ = try await doors.call(
                "PUT", "/v1/activities/cat-7?restart=true", #"{"type":"T","state":{"lap":5}}"#)
            for version in 1...5 {
                let answer = try await doors.call(
                    "GET", "/v1/activities/cat-7?at_version=\(version)")
                #expect(answer.status == 200, "\(answer.text)")
                let view = try json(answer)
                #expect(view["version"]?.integer == Int64(version))
                #expect(view["state"]?["lap"]?.integer == Int64(version))
                #expect(view["as_of"]?.string != nil)
            }
            let late = try await doors.call("GET", "/v1/activities/cat-7?at_version=6")
            #expect(late.status == 400)
            #expect(late.text.contains("the activity is at version 5"))
            #expect(try json(late)["newest"]?.integer == 5)
            for query in ["at_version=0", "at_version=1&at_seq=1", "at_version=x"] {
                let refused = try await doors.call("GET", "/v1/activities/cat-7?\(query)")
                #expect(refused.status == 400, "\(query)")
            }
        }
    }

    @Test func `the past has what each destination held then`() async throws {
        try await withPhone { doors in
            try await doors.putToken("activity:cat", "cc33")
            let start = #"{"type":"T","audience":{"device":"phone-1","start":"adopt"},"state":{}}"#
            _ = try await doors.call("PUT", "/v1/activities/cat", start, fields: ["Prefer: wait=2"])
            doors.sender.refusal = "BadTopic"
            _ = try await doors.call(
                "PATCH", "/v1/activities/cat", #"{"state":{"n":2}}"#, fields: ["Prefer: wait=5"])
            func destinations(_ query: String) async throws -> [JSONView] {
                let view = try json(try await doors.call("GET", "/v1/activities/cat?\(query)"))
                return view["destinations"].map { Array($0.elements) } ?? []
            }
            let late = try await destinations("at=\(Self.soon)")
            #expect(late.compactMap { $0["device"]?.string } == ["phone-1"])
            #expect(late.compactMap { $0["acknowledged_version"]?.integer } == [1])
            #expect(late.compactMap { $0["result"]?.string } == ["rejected"])
            #expect(late.compactMap { $0["route"]?.string } == ["update_token"])
            #expect(late.allSatisfy { $0["acknowledged_at"]?.string != nil })
            #expect(late.allSatisfy { $0["frames"] == nil }, "what is of now is not shown")
            #expect(try await destinations("at_version=1").isEmpty, "nothing had gone by then")
        }
    }

    @Test func `an instant shows what was then`() async throws {
        try await withDoors { doors in
            try await tell(doors)
            let late = try await doors.call("GET", "/v1/activities/cat-7?at=\(Self.soon)")
            #expect(try json(late)["version"]?.integer == 4)
            #expect(try json(late)["as_of"]?.string == Self.soon)
            let early = try await doors.call("GET", "/v1/activities/cat-7?at=2001-01-01T00:00:00Z")
            #expect(early.status == 404)
        }
    }

    @Test func `a moment that is none is refused`() async throws {
        try await withDoors { doors in
            try await tell(doors)
            for query in ["at=yesterday", "at_seq=-1", "at=2001-01-01T00:00:00Z&at_seq=1"] {
                let answer = try await doors.call("GET", "/v1/activities/cat-7?\(query)")
                #expect(answer.status == 400, "\(query)")
            }
            #expect(try await doors.call("GET", "/v1/activities/cow?at_seq=1").status == 404)
            for (seq, status) in [(5, 200), (6, 400)] {
                let answer = try await doors.call("GET", "/v1/activities/cat-7?at_seq=\(seq)")
                #expect(answer.status == status, "\(answer.text)")
                guard status == 400 else { continue }
                #expect(try json(answer)["newest"]?.integer == 5)
            }
            let ahead = try await doors.call("GET", "/v1/activities/cat-7?at=9998-01-01T00:00:00Z")
            #expect(ahead.status == 400 && ahead.text.contains("yet to come"), "\(ahead.text)")
            #expect(try json(ahead)["newest"]?.string != nil)
        }
    }
}
