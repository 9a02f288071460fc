import Testing
import TomboloAPI
import TomboloCore
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

/// CloudEvents 1.0 in the three modes of their HTTP binding.
@Suite struct CloudEventDoorTests {
    private static let one = ["Content-Type: application/cloudevents+json"]
    private static let many = ["Content-Type: application/cloudevents-batch+json"]

    private static func event(
        _ id: String, _ type: String, _ data: String?, source: String = "/shop"
    ) -> String {
        let data = data.map { #","data":\#($0)"# } ?? ""
        return #"{"specversion":"1.0","id":"\#(id)","source":"\#(source)","type":"\#(type)","#
            + #""subject":"cat-7"\#(data)}"#
    }

    private static func fields(_ id: String, _ type: String, _ more: [String] = []) -> [String] {
        [
            "Content-Type: application/json", "ce-specversion: 1.0", "ce-id: \(id)",
            "ce-source: /shop", "ce-type: \(type)", "ce-subject: cat-7",
        ] + more
    }

    private static let start = #"{"type":"Any","state":{"lap":1}}"#

    @Test func `one event is answered as the single call, and again as a repetition`() async throws
    {
        try await withDoors { doors in
            let start = Self.event("e1", "tombolo.start", Self.start)
            let first = try await doors.call("POST", "/v1/events", start, fields: Self.one)
            #expect(first.status == 201)
            #expect(first.fields["etag"] == "\"v1\"")
            #expect(first.fields["location"] == "/v1/activities/cat-7")
            let again = try await doors.call("POST", "/v1/events", start, fields: Self.one)
            #expect(again.fields["idempotent-replayed"] == "true")
            #expect(again.status == 201)
            let other = try await doors.call(
                "POST", "/v1/events", Self.event("e1", "tombolo.end", nil), fields: Self.one)
            #expect(other.status == 422)
            #expect(try json(other)["code"]?.string == "idempotency-key-reused")
            let elsewhere = try await doors.call(
                "POST", "/v1/events", Self.event("e1", "tombolo.end", nil, source: "/bar"),
                fields: Self.one)
            #expect(elsewhere.status == 200)
            #expect(await doors.relay.lastSeq == 2)
        }
    }

    @Test func `an event is the same one in each mode`() async throws {
        try await withDoors { doors in
            let event = Self.event("e 1%", "tombolo.start", Self.start)
            _ = try await doors.call("POST", "/v1/events", event, fields: Self.one)
            let head = try await doors.call(
                "POST", "/v1/events", Self.start,
                fields: Self.fields("e%201%25", "tombolo.start"))
            #expect(head.fields["idempotent-replayed"] == "true")
            let batch = try await doors.call(
                "POST", "/v1/events", "[\(event),\(event)]", fields: Self.many)
            let results = try batch.lines.map { try JSONDocument(Array($0.utf8)).root }
            #expect(results.map { $0["replayed"]?.bool } == [true, true])
            #expect(await doors.relay.lastSeq == 1)
        }
    }

    @Test func `a batch is answered as lines are, and a bad event stops nothing`() async throws {
        try await withDoors { doors in
            let events = [
                Self.event("e1", "tombolo.start", Self.start), "7",
                Self.event("e2", "tombolo.update", #"{"state":{"lap":2}}"#),
                Self.event("e2", "tombolo.update", #"{"state":{"lap":3}}"#, source: "/bar"),
                Self.event("e3", "tombolo.updaet", "{}"),
            ]
            let answer = try await doors.call(
                "POST", "/v1/events", "[\(events.joined(separator: ",\n"))]", fields: Self.many)
            #expect(answer.status == 200)
            #expect(answer.fields["content-type"] == "application/x-ndjson")
            let results = try answer.lines.map { try JSONDocument(Array($0.utf8)).root }
            #expect(results.map { $0["ok"]?.bool } == [true, false, true, true, false])
            #expect(results.map { $0["version"]?.integer } == [1, nil, 2, 3, nil])
            #expect(results[1]["line"]?.integer == 2)
            #expect(results[4]["id"]?.string == "e3")
            #expect(
                results[4]["problem"]?["detail"]?.string?.hasSuffix(
                    "did you mean \"tombolo.update\"?") == true)
            let empty = try await doors.call("POST", "/v1/events", "[]", fields: Self.many)
            #expect(empty.status == 200)
            #expect(empty.lines == [])
            let open = try await doors.call("POST", "/v1/events", "{}", fields: Self.many)
            #expect(open.lines.count == 1)
            #expect(open.text.contains("is not one JSON array"))
        }
    }

    @Test func `a batch is atomic, or tried, where that is asked for`() async throws {
        try await withDoors { doors in
            let start = Self.event("e1", "tombolo.start", Self.start)
            let update = Self.event("e1", "tombolo.update", #"{"state":{}}"#, source: "/bar")
            let tried = try await doors.call(
                "POST", "/v1/events?dry_run=true", "[\(start),\(update)]", fields: Self.many)
            #expect(tried.lines.count == 2)
            #expect(!tried.text.contains("\"ok\":false"))
            let spoiled = try await doors.call(
                "POST", "/v1/events?atomic=true", "[\(start),{}]", fields: Self.many)
            #expect(spoiled.status == 422)
            #expect(try json(spoiled)["line"]?.integer == 2)
            #expect(await doors.relay.lastSeq == 0)
            let whole = try await doors.call(
                "POST", "/v1/events?atomic=true", "[\(start),\(update),\(start)]",
                fields: Self.many)
            #expect(whole.status == 200)
            #expect(await doors.relay.lastSeq == 2)
            let single = try await doors.call(
                "POST", "/v1/events?dry_run=true",
                Self.event("e9", "tombolo.end", nil), fields: Self.one)
            #expect(single.status == 200)
            #expect(await doors.relay.lastSeq == 2)
        }
    }

    @Test func `a condition on the version holds`() async throws {
        try await withDoors { doors in
            let start = Self.event("e1", "tombolo.start", Self.start)
            _ = try await doors.call("POST", "/v1/events", start, fields: Self.one)
            let late = try await doors.call(
                "POST", "/v1/events", #"{"state":{}}"#,
                fields: Self.fields("e2", "tombolo.update", ["If-Match: \"v9\""]))
            #expect(late.status == 412)
        }
    }

    @Test(arguments: [
        (Self.fields("e1", "tombolo.update", ["ce-id: e2"]), 400, "ce-id is given more than once"),
        (Self.fields("%ff", "tombolo.update"), 400, "ce-id is not percent-encoded UTF-8"),
        (Self.fields("100%", "tombolo.update"), 400, "ce-id is not percent-encoded UTF-8"),
        (Self.fields("e1", "tombolo.update", ["ce-x: %C3"]), 422, "/lap: unknown field"),
        (Self.fields("e1", "tombolo.update", ["ce-datacontenttype: a"]), 422, "/lap: unknown"),
        (Self.fields("e1", "tombolo.updaet"), 400, "ce-type must be one of tombolo.start"),
        (Self.fields("e1", "tombolo.update", ["ce-data: 1"]), 400, "ce-data is no field"),
        (["Content-Type: application/json", "ce-id: e1"], 400, "ce-specversion is missing"),
        (Self.fields("e1", "tombolo.update", ["Idempotency-Key: a"]), 400, "keeps no Idempotency"),
        (Self.fields("e1", "tombolo.update"), 422, "/lap: unknown field"),
        (
            Self.fields("e1", "tombolo.update").map { $0.replacing("application", with: "text") },
            422,
            "/lap: unknown field"
        ),
        (["Content-Type: application/x-ndjson", "ce-id: e1"], 415, "application/x-ndjson is not"),
        (["Content-Type: application/json"], 415, "with application/cloudevents+json"),
        (["Content-Type: application/cloudevents+xml"], 415, "with application/cloudevents+json"),
    ])
    func `what is wrong with an event is named with its field`(
        _ fields: [String], _ status: Int, _ detail: String
    ) async throws {
        try await withDoors { doors in
            let answer = try await doors.call(
                "POST", "/v1/events", #"{"lap":1}"#, fields: fields)
            #expect(answer.status == status, "\(answer.text)")
            #expect(try json(answer)["detail"]?.string?.contains(detail) == true, "\(answer.text)")
        }
    }

    @Test(arguments: [
        ("a", "a"), ("%C3%A9", "é"), ("é", "é"), ("%25", "%"), ("\"a\\\"%20b\"", "a\" b"),
        ("\"", "\""), ("%", nil), ("%2", nil), ("%zz", nil), ("%C3", nil), ("\u{FFFD}", nil),
        ("%EF%BF%BD", "\u{FFFD}"), ("", ""),
    ])
    func `a field is decoded once`(_ field: String, _ value: String?) {
        #expect(DoorRequest.attribute(field) == value)
    }

    @Test func `a key is source and id, or their hash where that is longer than a key may be`() {
        let id = String(repeating: "i", count: 252)
        #expect(BatchLine.keyOfCloudEvent(source: "ab", id: id) == "ab\n" + id)
        let key = BatchLine.keyOfCloudEvent(source: "abc", id: id)
        #expect(EventLine.idBytes.contains(key.utf8.count))
        #expect(key != BatchLine.keyOfCloudEvent(source: "ab", id: "c" + id))
    }
}
