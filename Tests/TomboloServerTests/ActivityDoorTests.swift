import TestSupport
import Testing
import TomboloEventLog
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

/// The JSON of an answer.
func json(_ answer: CurlAnswer) throws -> JSONView { try JSONDocument(answer.body).root }

let startCat = """
    {"type":"RunnerWidgetAttributes","app":"com.example.app","audience":{"device":"phone-1"},
     "attributes":{"name":"Mike"},"state":{"lap":"1/5","speed":1.50},
     "alert":{"title":"Mike is off","body":"Five laps to go"},"relevance":1.0,"stale_after":"2m"}
    """

extension DoorsUnderTest {
    /// A phone that can be started on.
    func registerPhone(_ name: String = "phone-1") async throws {
        let device = try await call(
            "PUT", "/v1/devices/\(name)",
            #"{"app":"com.example.app","environment":"sandbox","os":"26.1","budget_class":"lab"}"#)
        #expect(device.status == 201)
        let token = try await call(
            "PUT", "/v1/devices/\(name)/tokens/start:RunnerWidgetAttributes",
            #"{"token":"00112233445566778899aabbccddeeff"}"#)
        #expect(token.status == 201)
    }

    /// A token of `phone-1`.
    func putToken(_ name: String, _ token: String) async throws {
        _ = try await call("PUT", "/v1/devices/phone-1/tokens/\(name)", #"{"token":"\#(token)"}"#)
    }

    /// `cat` on the card that `phone-1` has begun; waits for Apple's answer.
    func startAdopted(wait seconds: Int = 2) async throws {
        _ = try await call(
            "PUT", "/v1/activities/cat",
            #"{"type":"Cat","audience":{"device":"phone-1","start":"adopt"},"state":{"n":1}}"#,
            fields: ["Prefer: wait=\(seconds)"])
    }
}

/// The same as `withDoors`, with a phone.
func withPhone(_ body: @escaping @Sendable (DoorsUnderTest) async throws -> Void) async throws {
    try await withDoors { doors in
        try await doors.registerPhone()
        try await body(doors)
    }
}

@Suite struct ActivityDoorTests {
    @Test func `a start is durable, pushed, and told`() async throws {
        try await withPhone { doors in
            let start = try await doors.call(
                "PUT", "/v1/activities/cat-7", startCat,
                fields: ["If-None-Match: *", "Idempotency-Key: \"order-9931\"", "Prefer: wait=2"])
            #expect(start.status == 201)
            #expect(start.fields["etag"] == "\"v1\"")
            #expect(start.fields["preference-applied"] == "wait=2")
            #expect(start.fields["location"] == "/v1/activities/cat-7")
            let view = try json(start)
            #expect(view["activity"]?.string == "cat-7")
            #expect(view["seq"]?.integer == 1)
            #expect(view["grant"]?["class"]?.string == "lab")
            let delivery = try #require(view["deliveries"]?.elements.first { _ in true })
            #expect(delivery["device"]?.string == "phone-1")
            #expect(delivery["route"]?.string == "push_to_start")
            #expect(delivery["result"]?.string == "accepted")
            #expect(delivery["status"]?.integer == 200)
            #expect(doors.sender.pushes.count == 1)
        }
    }

    @Test func `an activity is started, changed, shown and ended`() async throws {
        try await withDoors { doors in
            let start = try await doors.call("PUT", "/v1/activities/cat-7", startCat)
            #expect(try json(start)["status"]?.string == "waiting")
            let update = try await doors.call(
                "PATCH", "/v1/activities/cat-7", #"{"state":{"lap":"2/5"}}"#,
                fields: ["If-Match: \"v1\""])
            #expect(update.status == 200)
            #expect(update.fields["etag"] == "\"v2\"")
            let shown = try await doors.call("GET", "/v1/activities/cat-7")
            #expect(shown.fields["etag"]?.hasPrefix("\"v2-") == true)
            // The producer's number is spelled as the producer spelled it.
            #expect(shown.text.contains(#""state":{"lap":"2/5","speed":1.50}"#))
            let end = try await doors.call("POST", "/v1/activities/cat-7/end")
            #expect(try json(end)["status"]?.string == "ended")
            let again = try await doors.call(
                "POST", "/v1/activities/cat-7/end", #"{"dismiss":"now"}"#)
            #expect(again.status == 200)
            #expect(try json(again)["version"]?.integer == 3)
            let late = try await doors.call("PATCH", "/v1/activities/cat-7", #"{"state":{}}"#)
            #expect(late.status == 409)
            #expect(try json(late)["code"]?.string == "activity-ended")
            let restart = try await doors.call("PUT", "/v1/activities/cat-7?restart=true", startCat)
            #expect(restart.status == 201)
        }
    }

    @Test func `HEAD is GET without a body`() async throws {
        try await withDoors { doors in
            _ = try await doors.call("PUT", "/v1/activities/cat-7", startCat)
            let head = try await doors.call("HEAD", "/v1/activities/cat-7")
            #expect(head.status == 200)
            #expect(head.fields["etag"]?.hasPrefix("\"v1-") == true)
            #expect(head.body.isEmpty)
        }
    }

    @Test func `an activity that is as it was is not sent again, and its tag is a condition`()
        async throws
    {
        try await withDoors { doors in
            let path = "/v1/activities/cat-7"
            try await doors.registerPhone()
            _ = try await doors.call("PUT", path, startCat, fields: ["Prefer: wait=2"])
            let first = try #require(try await doors.call("GET", path).fields["etag"])
            let tag = first.dropLast()
            for (method, field) in [
                ("GET", "\"x\", W/\(first)"), ("HEAD", "\(tag)-gzip\""),
                ("GET", "\"x-gzip\",W/\(tag)--br\""),
            ] {
                let same = try await doors.call(
                    method, path, fields: ["If-None-Match: \(field)"])
                #expect(same.status == 304, "\(method) \(field)")
                #expect(same.fields["etag"] == first)
                #expect(same.body.isEmpty)
            }
            // The version is the same, the way to the phone is not.
            try await doors.putToken("activity:cat-7", "cc33")
            let next = try await doors.call("GET", path, fields: ["If-None-Match: \(first)"])
            #expect(next.status == 200)
            let second = try #require(next.fields["etag"])
            #expect(second.hasPrefix("\"v1-") && second != first)
            for (tag, status) in [(first, 200), ("\"v2\"", 200), (first, 412), ("\"v3-\"", 400)] {
                let update = try await doors.call(
                    "PATCH", path, #"{"state":{"lap":"2/5"}}"#, fields: ["If-Match: \(tag)"])
                #expect(update.status == status, "\(tag)")
            }
        }
    }

    @Test(arguments: [
        #""urgency":"high""#, #""alert_ttl":"5m""#, #""on_unknown_start":"resend""#,
        #""start_wait":"5m""#,
    ])
    func `a start with another member is another start`(_ member: String) async throws {
        try await withDoors { doors in
            let path = "/v1/activities/cat-7"
            let other = startCat.replacing("\"type\"", with: "\(member),\"type\"")
            #expect(try await doors.call("PUT", path, startCat).status == 201)
            #expect(try await doors.call("PUT", path, startCat).status == 200)
            let refused = try await doors.call("PUT", path, other)
            #expect(refused.status == 409)
            #expect(try json(refused)["code"]?.string == "activity-running")
            let next = "/v1/activities/cat-8"
            #expect(try await doors.call("PUT", next, other).status == 201)
            #expect(try await doors.call("PUT", next, other).status == 200)
        }
    }

    @Test func `a condition that does not hold stores nothing`() async throws {
        try await withDoors { doors in
            _ = try await doors.call("PUT", "/v1/activities/cat-7", startCat)
            let stale = try await doors.call(
                "PATCH", "/v1/activities/cat-7", #"{"state":{"lap":"9"}}"#,
                fields: ["If-Match: \"v7\""])
            #expect(stale.status == 412)
            #expect(try json(stale)["version"]?.integer == 1)
            let there = try await doors.call(
                "PUT", "/v1/activities/cat-7", startCat, fields: ["If-None-Match: *"])
            #expect(there.status == 412)
            let unreadable = try await doors.call(
                "PATCH", "/v1/activities/cat-7", #"{"state":{"lap":"9"}}"#,
                fields: ["If-Match: v1"])
            #expect(unreadable.status == 400)
            #expect(try json(unreadable)["code"]?.string == "invalid-header")
            #expect(await doors.relay.lastSeq == 1)
        }
    }

    @Test func `the same idempotency key is the same event, and another body is refused`()
        async throws
    {
        try await withDoors { doors in
            let field = ["Idempotency-Key: order-9931"]
            let first = try await doors.call("PUT", "/v1/activities/cat-7", startCat, fields: field)
            #expect(first.fields["idempotent-replayed"] == nil)
            let second = try await doors.call(
                "PUT", "/v1/activities/cat-7", startCat, fields: field)
            #expect(second.status == 201)
            #expect(second.fields["idempotent-replayed"] == "true")
            #expect(try json(second)["seq"]?.integer == 1)
            #expect(second.fields["etag"] == "\"v1\"")
            #expect(second.text == first.text)
            let other = try await doors.call(
                "PATCH", "/v1/activities/cat-7", #"{"state":{}}"#, fields: field)
            #expect(other.status == 422)
            #expect(try json(other)["code"]?.string == "idempotency-key-reused")
            #expect(await doors.relay.lastSeq == 1)
        }
    }

    @Test func `the same request in another spelling is the same event, in each door`()
        async throws
    {
        try await withDoors { doors in
            _ = try await doors.call("PUT", "/v1/types/Cat", #"{"alert_ttl":"5m"}"#)
            let field = ["Idempotency-Key: order-1"]
            func put(_ body: String, _ query: String = "") async throws -> (Int, Bool) {
                let answer = try await doors.call(
                    "PUT", "/v1/activities/cat-7" + query, body, fields: field)
                return (answer.status, answer.fields["idempotent-replayed"] == "true")
            }
            let alert = #""alert":{"title":"ü"}"#
            #expect(try await put(#"{"type":"Cat","state":{"n":1},\#(alert)}"#) == (201, false))
            let other = #"{ "state": {"n": 1.0}, "alert": {"title": "\u00fc"}, "type": "Cat" }"#
            #expect(try await put(other) == (201, true))
            // Another value, another time of the alert, and a start that begins again.
            #expect(try await put(#"{"type":"Cat","state":{"n":2},\#(alert)}"#).0 == 422)
            let timed = #"{"type":"Cat","state":{"n":1},\#(alert),"alert_ttl":"1m"}"#
            #expect(try await put(timed).0 == 422)
            #expect(try await put(other, "?restart=true").0 == 422)
            // The same body for another activity.
            let elsewhere = try await doors.call(
                "PUT", "/v1/activities/cat-8", other, fields: field)
            #expect(elsewhere.status == 422)

            let line = #"{"id":"e1","activity":"cat-7","do":"update","state":{"n":3,"m":0}}"#
            let again = #"{"do":"update","id":"e1","activity":"cat-7","state":{"m":-0.0,"n":3.0}}"#
            for query in ["", "?atomic=true"] {
                let answer = try await doors.call("POST", "/v1/events" + query, "\(line)\n\(again)")
                let lines = try answer.lines.map { try JSONDocument(Array($0.utf8)).root }
                #expect(lines.map { $0["version"]?.integer } == [2, 2], "\(answer.text)")
            }
            #expect(await doors.relay.lastSeq == 2)
        }
    }

    @Test func `the flag restart belongs to the request, and what a type adds does not`()
        async throws
    {
        try await withDoors { doors in
            func call(
                _ method: String, _ path: String, _ body: String, key: String
            ) async throws -> (Int, Bool) {
                let answer = try await doors.call(
                    method, path, body, fields: ["Idempotency-Key: \(key)"])
                return (answer.status, answer.fields["idempotent-replayed"] == "true")
            }
            let (path, again) = ("/v1/activities/cat-7", "/v1/activities/cat-7?restart=true")
            let (one, other) = (
                #"{"type":"Cat","state":{"n":1}}"#, #"{"state":{"n":1.0},"type":"Cat"}"#
            )
            #expect(try await call("PUT", again, one, key: "a") == (201, false))
            #expect(try await call("PUT", again, other, key: "a") == (201, true))
            #expect(try await call("PUT", path, other, key: "a").0 == 422)

            _ = try await doors.call("PUT", "/v1/types/Cat", #"{"alert_ttl":"5m"}"#)
            let (alert, alike) = (#"{"alert":{"title":"A"}}"#, #"{ "alert": {"title": "\u0041"} }"#)
            #expect(try await call("PATCH", path, alert, key: "b") == (200, false))
            _ = try await doors.call("PUT", "/v1/types/Cat", #"{"alert_ttl":"6m"}"#)
            #expect(try await call("PATCH", path, alike, key: "b") == (200, true))
            let timed = #"{"alert":{"title":"A"},"alert_ttl":"300s"}"#
            #expect(try await call("PATCH", path, timed, key: "b") == (200, true))
            let longer = #"{"alert":{"title":"A"},"alert_ttl":"7m"}"#
            #expect(try await call("PATCH", path, longer, key: "b").0 == 422)
        }
    }

    @Test func `a replay tells another key no more than that key may know`() async throws {
        try await withPhone { doors in
            let field = ["Idempotency-Key: a"]
            let start = #"{"type":"Cat","state":{"n":1},"audience":{"device":"phone-11"}}"#
            let first = try await doors.call("PUT", "/v1/activities/cat-7", start, fields: field)
            #expect(first.text.contains("phone-1\\\""), "\(first.text)")
            let producer = try await doors.mint("produce")
            let replay = try await doors.call(
                "PUT", "/v1/activities/cat-7", start, key: producer, fields: field)
            #expect(replay.status == 201)
            #expect(!replay.text.contains("phone-1\\\""), "\(replay.text)")
        }
    }

    @Test(arguments: [
        (#""v1""#, 200), (#""v9", "v1""#, 200), (#", "v1" ,,"#, 200), (#""v9","v8""#, 412),
        (",", 400), (#""v1" "v2""#, 400), (#"W/"v1""#, 200), (#""v9-gzip", W/"v1-br""#, 200),
        (#""v1--gzip""#, 200), (#""v9-gzip""#, 412), ("W/v1", 400), ("W/", 400), ("-gzip\"", 400),
    ])
    func `If-Match takes a list`(field: String, status: Int) async throws {
        try await withDoors { doors in
            _ = try await doors.call("PUT", "/v1/activities/cat-7", startCat)
            let answer = try await doors.call(
                "PATCH", "/v1/activities/cat-7", #"{"state":{"n":2}}"#,
                fields: ["If-Match: \(field)"])
            #expect(answer.status == status, "\(answer.text)")
            let batch = try await doors.call(
                "POST", "/v1/events", #"{"activity":"cat-7","do":"end"}"#,
                fields: ["If-Match: \(field)"])
            #expect(batch.status == 400, "\(batch.text)")
        }
    }

    @Test func `after a restart the answer is made again from the log`() async throws {
        let log = InMemoryEventLog()
        let field = ["Idempotency-Key: order-9931"]
        try await withDoors(log: log) { doors in
            _ = try await doors.call("PUT", "/v1/activities/cat-7", startCat, fields: field)
        }
        try await withDoors(log: log.crashed()) { doors in
            let again = try await doors.call("PUT", "/v1/activities/cat-7", startCat, fields: field)
            #expect(again.status == 201)
            #expect(again.fields["idempotent-replayed"] == "true")
            #expect(again.fields["etag"] == "\"v1\"")
            let view = try json(again)
            #expect(view["seq"]?.integer == 1)
            #expect(view["status"]?.string == "waiting")
            let other = try await doors.call("PUT", "/v1/activities/cat-8", startCat, fields: field)
            #expect(other.status == 422)
            #expect(await doors.relay.lastSeq == 1)
        }
    }

    @Test func `a flip-book is planned, played and stopped`() async throws {
        try await withPhone { doors in
            _ = try await doors.call("PUT", "/v1/activities/cat-7", startCat)
            let play = try await doors.call(
                "POST", "/v1/activities/cat-7/clips",
                #"{"flipbook":{"path":"/image","frames":["a","b"],"every":"100ms"}}"#
            )
            #expect(play.status == 201)
            let view = try json(play)
            let clip = try #require(view["clip"]?.string)
            #expect(view["plan"]?["asked_fps"]?.integer == 10)
            #expect(view["plan"]?["limit_bytes"]?.integer == 4_096)
            let shown = try json(try await doors.call("GET", "/v1/activities/cat-7"))
            #expect(shown["clips"]?.count == 1)
            let none = try await doors.call("DELETE", "/v1/activities/cat-7/clips/nothing")
            #expect(none.status == 404)
            let stop = try await doors.call("DELETE", "/v1/activities/cat-7/clips/\(clip)")
            #expect(stop.status == 200)
        }
    }

    @Test func `all of a type end at once`() async throws {
        try await withDoors { doors in
            for id in ["a", "b"] {
                _ = try await doors.call("PUT", "/v1/activities/\(id)", startCat)
            }
            let end = try await doors.call(
                "POST", "/v1/activities/end",
                #"{"where":{"type":"RunnerWidgetAttributes"},"dismiss":"now"}"#)
            #expect(end.status == 200)
            #expect(try json(end)["count"]?.integer == 2)
            let listed = try await doors.call("GET", "/v1/activities?status=ended&limit=1")
            let page = try json(listed)
            #expect(page["activities"]?.count == 1)
            let cursor = try #require(page["next_cursor"]?.string)
            let rest = try json(
                try await doors.call("GET", "/v1/activities?status=ended&cursor=\(cursor)"))
            #expect(rest["activities"]?.count == 1)
            #expect(rest["next_cursor"]?.isNull == true)
        }
    }
}
