import Testing
import TomboloJSON

@testable import TomboloServer

@Suite struct PacingDoorTests {
    @Test func `a pause is made, shown, listed and taken back`() async throws {
        try await withDoors { doors in
            let unknown = try await doors.call("POST", "/v1/pauses", #"{"activity":"cat"}"#)
            #expect(unknown.status == 404)
            #expect(unknown.text.contains("would hold nothing"))
            _ = try await doors.call("PUT", "/v1/activities/cat", #"{"type":"Cat","state":{}}"#)
            let made = try await doors.call(
                "POST", "/v1/pauses", #"{"activity":"cat","reason":"at night"}"#)
            #expect(made.status == 201)
            let id = try #require(try json(made)["id"]?.string)
            #expect(made.fields["location"] == "/v1/pauses/\(id)")
            let shown = try await doors.call("GET", "/v1/pauses/\(id)")
            #expect(try json(shown)["activity"]?.string == "cat")
            #expect(try json(shown)["reason"]?.string == "at night")
            let list = try await doors.call("GET", "/v1/pauses")
            #expect(try json(list)["pauses"]?.count == 1)
            #expect(try await doors.call("DELETE", "/v1/pauses/\(id)").status == 200)
            #expect(try await doors.call("DELETE", "/v1/pauses/\(id)").status == 404)
            #expect(try await doors.call("GET", "/v1/pauses/none").status == 404)
            #expect(try await doors.call("POST", "/v1/pauses", "{}").status == 422)
        }
    }

    @Test func `every year that RFC 3339 has is a time to look from and up to`() async throws {
        try await withDoors { doors in
            _ = try await doors.call("PUT", "/v1/activities/cat-7", startCat)
            for (span, count) in [
                ("from=0001-01-01T00:00:00Z&until=9999-12-31T23:59:59Z", 1),
                ("until=0001-01-01T00:00:00Z", 0), ("from=9999-01-01T00:00:00Z", 0),
            ] {
                let log = try await doors.call("GET", "/v1/log?\(span)")
                #expect(log.status == 200, "\(span): \(log.text)")
                #expect(try json(log)["events"]?.count == count, "\(span)")
                #expect(try await doors.call("GET", "/v1/deliveries?\(span)").status == 200)
            }
            let late = try await doors.call("GET", "/v1/activities/cat-7?at=9999-01-01T00:00:00Z")
            #expect(late.status == 400 && late.text.contains("is yet to come"))
            #expect(try await doors.call("GET", "/v1/log?from=10000-01-01T00:00:00Z").status == 400)
        }
    }

    @Test func `what is paused says so, and goes when it is let go`() async throws {
        try await withPhone { doors in
            _ = try await doors.call("PUT", "/v1/activities/cat-7", startCat)
            let pause = try await doors.call("POST", "/v1/pauses", #"{"all":true}"#)
            let id = try #require(try json(pause)["id"]?.string)
            let update = try await doors.call(
                "PATCH", "/v1/activities/cat-7", #"{"state":{"lap":"2/5"}}"#)
            #expect(try json(update)["decision"]?["reason"]?.string == "paused")
            _ = try await doors.call("DELETE", "/v1/pauses/\(id)")
            let after = try await doors.call("GET", "/v1/activities/cat-7")
            let waiting = try json(after)["destinations"]?.elements.first { _ in true }?["waiting"]
            #expect(waiting?["reason"]?.string != "paused")
        }
    }

    @Test func `decisions add up, and are listed newest first`() async throws {
        try await withPhone { doors in
            let start = try json(
                try await doors.call(
                    "PUT", "/v1/activities/cat-7", startCat, fields: ["Prefer: wait=2"]))
            // Who waited is told how it stands then.
            #expect(start["destinations"]?["sent"]?.integer == 1)
            #expect(start["destinations"]?["sending"]?.integer == 0)
            #expect(start["destinations"]?["deferred"]?.integer == 0)
            #expect(start["decision"] == nil)
            let answer = try await doors.call("GET", "/v1/activities/cat-7/deliveries")
            let view = try json(answer)
            let books = try #require(view["destinations"]?.elements.first { _ in true })
            let events = try #require(books["events"])
            let parts = ["sent", "merged", "skipped", "expired", "refused", "waiting"]
            #expect(
                events["asked"]?.integer
                    == parts.compactMap { events[$0]?.integer }.reduce(0, +))
            #expect(events["sent"]?.integer == 1)
            let first = try #require(view["deliveries"]?.elements.first { _ in true })
            #expect(first["action"]?.string == "sent")
            #expect(first["push"]?["result"]?.string == "accepted")
            let all = try await doors.call("GET", "/v1/deliveries?activity=cat-7&limit=1")
            #expect(try json(all)["deliveries"]?.count == 1)
            #expect(try await doors.call("GET", "/v1/activities/none/deliveries").status == 404)
        }
    }

    @Test func `budgets tell the grants and what is left`() async throws {
        try await withPhone { doors in
            _ = try await doors.call("PUT", "/v1/activities/cat-7", startCat)
            let view = try json(try await doors.call("GET", "/v1/budgets?device=phone-1"))
            #expect(view["classes"]?.count == 7)
            let own = try #require(view["destinations"]?.elements.first { _ in true })
            #expect(own["activity"]?.string == "cat-7")
            #expect(own["left"]?.isNull == true, "the phone is of class lab")
            #expect(own["phone"]?.isNull == true)
        }
    }

    @Test func `budgets come page by page, with starts, widgets and controls`() async throws {
        try await withDoors { doors in
            for (digit, phone) in [(1, "phone-1"), (2, "phone-2")] {
                for (path, body) in [
                    ("", #"{"app":"com.example.app"}"#),
                    ("/tokens/start:RunnerWidgetAttributes", #"{"token":"a\#(digit)"}"#),
                    ("/tokens/control:lock", #"{"token":"c\#(digit)"}"#),
                ] {
                    let answer = try await doors.call("PUT", "/v1/devices/\(phone)\(path)", body)
                    #expect((200...201).contains(answer.status), "\(path)")
                }
            }
            _ = try await doors.call(
                "PUT", "/v1/activities/cat-7",
                #"{"type":"RunnerWidgetAttributes","audience":{"devices":["phone-1","phone-2"]},"#
                    + #""state":{"lap":1}}"#, fields: ["Prefer: wait=2"])
            let first = try json(try await doors.call("GET", "/v1/budgets?limit=1"))
            let own = try #require(first["destinations"]?.elements.first { _ in true })
            #expect(first["destinations"]?.count == 1)
            // What was reserved counts for two seconds as if it were more than one.
            #expect([2, 3].contains(own["left"]?.integer ?? 0))
            #expect([14, 15].contains(own["device_left"]?.integer ?? 0))
            #expect([8, 9].contains(own["starts_left"]?.integer ?? 0))
            #expect((12...13).contains(own["phone"]?["left"]?.integer ?? 0))
            #expect(own["phone"]?["basis"]?.string == "class")
            let cursor = try #require(first["next_cursor"]?.string)
            let second = try json(
                try await doors.call("GET", "/v1/budgets?limit=1&cursor=\(cursor)"))
            let other = second["destinations"]?.elements.first { _ in true }
            #expect(other?["device"]?.string == "phone-2")
            #expect(second["next_cursor"]?.isNull == true)
            #expect(first["surfaces"]?.count == 0, "no reload was wanted")
            _ = try await doors.call("POST", "/v1/controls/lock/reload", #"{"device":"phone-1"}"#)
            let after = try json(try await doors.call("GET", "/v1/budgets?device=phone-1"))
            let lock = after["surfaces"]?.elements.first { _ in true }
            #expect(lock?["surface"]?.string == "control:lock")
            #expect(lock?["class"]?.string == "control")
            #expect([2, 3].contains(lock?["left"]?.integer ?? 0))
            #expect(try await doors.call("GET", "/v1/budgets?cursor=x").status == 400)
        }
    }
}
