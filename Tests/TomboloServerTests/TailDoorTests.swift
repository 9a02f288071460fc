import Synchronization
import TestSupport
import Testing
import TomboloAPI
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

/// The tail of facts, positions, and actions by the doors.
@Suite struct TailDoorTests {
    private static let start =
        #"{"type":"Cat","audience":{"device":"phone-1"},"state":{"lap":1}}"#
    private static let intents = #"{"intents":["Feed"]}"#

    private static func now(_ doors: DoorsUnderTest) async -> Instant {
        await doors.relay.wallNow()
    }

    /// A phone with a card of `cat-7`.
    private static func card(_ doors: DoorsUnderTest) async throws {
        try await doors.registerPhone()
        _ = try await doors.call("PUT", "/v1/types/Cat", intents)
        try await doors.putToken("start:Cat", "aabb")
        _ = try await doors.call("PUT", "/v1/activities/cat-7", start, fields: ["Prefer: wait=2"])
        try await doors.putToken("activity:cat-7", "ccdd")
    }

    private static func tap(
        _ doors: DoorsUnderTest, _ members: String = #""activity":"cat-7""#, key: String? = nil,
        fields: [String] = []
    ) async throws -> CurlAnswer {
        let at = await now(doors).rfc3339
        return try await doors.call(
            "POST", "/v1/devices/phone-1/actions", "{\(members),\"at\":\"\(at)\"}", key: key,
            fields: fields)
    }

    private static func lines(_ text: String) -> [JSONView] {
        text.split(whereSeparator: \.isNewline).filter { $0.hasPrefix("{") }
            .map { JSON(unchecked: Array($0.utf8)).document.root }
    }

    @Test func `a tail of facts tells what became of a card, and goes on where it was`()
        async throws
    {
        try await withDoors { doors in
            try await Self.card(doors)
            let path = "/v1/tail?fact=card.began,card.dismissed,push.accepted&cursor="
            let first = try json(try await doors.call("GET", "/v1/log?limit=1"))
            let cursor = try #require(
                first["events"]?.elements.first { _ in true }?["cursor"]?.string)
            let before = try doors.curl(
                "GET", path + cursor, fields: ["Accept: application/x-ndjson"], options: ["-N"])
            let text = await before.wait { $0.contains("card.began") }
            before.end()
            let began = try #require(Self.lines(text).first { $0["fact"]?.string == "card.began" })
            #expect(began["activity"]?.string == "cat-7")
            #expect(began["device"]?.string == "phone-1")
            let position = try #require(began["cursor"]?.string)
            _ = try await doors.call(
                "PUT", "/v1/devices/phone-1/activities/cat-7",
                #"{"phase":"dismissed","by":"user"}"#)
            let after = try doors.curl(
                "GET", "/v1/tail?fact=card.began,card.dismissed",
                fields: ["Accept: text/event-stream", "Last-Event-ID: \(position)"],
                options: ["-N"])
            defer { after.end() }
            let rest = await after.wait { $0.contains("card.dismissed") && $0.hasSuffix("\n\n") }
            #expect(rest.contains("event: card.dismissed\n"))
            #expect(rest.contains(#""by":"user""#))
            #expect(!rest.contains("card.began\n"))
            // Before the first event: a reader who is cut here comes back here.
            #expect(rest.contains("id: \(position)\n\n"))
        }
    }

    @Test func `commands and facts come together by time, filtered by device, user and result`()
        async throws
    {
        try await withDoors { doors in
            try await Self.card(doors)
            _ = try await doors.call(
                "PUT", "/v1/devices/other", #"{"user":"u9","environment":"sandbox"}"#)
            _ = try await doors.call("PUT", "/v1/devices/other/presence", #"{"phase":"active"}"#)
            _ = try await doors.call("PUT", "/v1/activities/dog-1", #"{"type":"Dog","state":{}}"#)
            await doors.relay.settleFacts()
            let all = try json(try await doors.call("GET", "/v1/log?kind=all&limit=1000"))
            let kinds = all["events"]?.elements.compactMap {
                $0["do"]?.string ?? $0["fact"]?.string
            }
            #expect(kinds?.contains("start") == true && kinds?.contains("card.began") == true)
            func names(_ query: String) async throws -> [String] {
                let page = try json(try await doors.call("GET", "/v1/log?limit=1000&" + query))
                return page["events"]?.elements.compactMap {
                    $0["do"]?.string ?? $0["fact"]?.string
                } ?? []
            }
            #expect(try await names("kind=fact&device=other").last == "presence.returning")
            #expect(try await names("kind=fact&user=u9") == names("kind=fact&device=other"))
            #expect(try await names("result=accepted") == ["push.accepted"])
            #expect(try await names("kind=all&device=phone-1").contains("start"))
            #expect(try await names("kind=all&device=other&type=Dog") == [])
            #expect(try await names("fact=card.began,card.lost") == ["card.began"])
            for wrong in [
                "kind=command&fact=card.began", "fact=Card", "fact=", "kind=none", "device=~",
                "result=a,,b",
            ] {
                #expect(try await doors.call("GET", "/v1/tail?" + wrong).status == 400, "\(wrong)")
            }
        }
    }

    @Test(arguments: ["command", "fact", "all"])
    func `0 is the beginning for every kind`(kind: String) async throws {
        try await withDoors { doors in
            try await Self.card(doors)
            await doors.relay.settleFacts()
            let page = try await doors.call("GET", "/v1/log?kind=\(kind)")
            for place in ["since=0", "cursor=0"] {
                let same = try await doors.call("GET", "/v1/log?kind=\(kind)&\(place)")
                #expect(same.text == page.text, "\(place)")
                #expect(same.status == 200)
            }
        }
    }

    @Test func `a tail that slept leaves the place of what it does not ask for`() async throws {
        try await withDoors { doors in
            try await Self.card(doors)
            let tail = try doors.curl(
                "GET", "/v1/tail?since=0", fields: ["Accept: application/x-ndjson"],
                options: ["-N"])
            defer { tail.end() }
            _ = await tail.wait { $0.contains("\n") }
            for lap in 2...4 {
                _ = try await doors.call(
                    "PATCH", "/v1/activities/cat-7", "{\"state\":{\"lap\":\(lap)}}",
                    fields: ["Prefer: wait=2"])
                await doors.relay.settleFacts()
            }
            let text = await tail.wait { Self.lines($0).count >= 4 }
            // Facts were written meanwhile: a tail of both goes on from their beginning.
            let facts = try json(try await doors.call("GET", "/v1/log?kind=fact"))
            #expect((facts["facts"] ?? facts["events"])?.count ?? 0 > 0, "\(facts)")
            let cursors = Self.lines(text).compactMap { $0["cursor"]?.string }
            #expect(cursors.count == 4)
            #expect(cursors.allSatisfy { $0.hasSuffix("-0") }, "\(cursors)")
        }
    }

    @Test(arguments: ["/v1/log", "/v1/tail"])
    func `a place ahead of the log is refused, with the newest one`(path: String) async throws {
        try await withDoors { doors in
            try await Self.card(doors)
            let place = await doors.relay.place(of: DoorsUnderTest.tenant)
            let log = await doors.relay.logID(of: DoorsUnderTest.tenant)
            // Facts come meanwhile, and not so many.
            let facts = place.fact + 1_000
            let cases: [(query: String, field: String?)] = [
                ("?since=2", nil), ("?kind=fact&since=\(facts)", nil),
                ("?cursor=\(LogCursor(log, LogPlace(command: 2)).text)", nil),
                ("?cursor=\(LogCursor(log, LogPlace(fact: facts)).text)", nil),
                ("", "2"), ("?kind=fact", "\(facts)"),
                ("", LogCursor(log, LogPlace(command: 1, fact: facts)).text),
            ]
            for (query, field) in cases where field == nil || path == "/v1/tail" {
                let refused = try await doors.call(
                    "GET", path + query, fields: field.map { ["Last-Event-ID: \($0)"] } ?? [])
                #expect(refused.status == 410, "\(query) \(field ?? "")")
                let problem = try json(refused)
                #expect(problem["code"]?.string == "position-ahead-of-log")
                let newest = try #require(problem["newest"]?.string)
                #expect(newest.hasPrefix("\(log.text)-1-"), "\(newest)")
                // It is a place to go on from.
                #expect(try await doors.call("HEAD", "\(path)?cursor=\(newest)").status == 200)
            }
            for query in ["?since=1", "?kind=fact&since=\(place.fact)"] {
                let answer = try await doors.call("HEAD", path + query)
                #expect(answer.status == 200, "\(query)")
            }
        }
    }

    @Test func `a cursor of another log is refused with a word`() async throws {
        try await withDoors { doors in
            let answer = try await doors.call("PUT", "/v1/activities/cat-7", Self.start)
            let cursor = try #require(try json(answer)["cursor"]?.string)
            #expect(try await doors.call("GET", "/v1/log?cursor=\(cursor)").status == 200)
            let foreign = "00000000" + cursor.dropFirst(8)
            for path in ["/v1/log?cursor=\(foreign)", "/v1/tail?cursor=\(foreign)"] {
                let refused = try await doors.call("GET", path)
                #expect(refused.status == 410)
                #expect(try json(refused)["code"]?.string == "cursor-of-another-log")
            }
            let header = try await doors.call(
                "GET", "/v1/tail", fields: ["Last-Event-ID: \(foreign)"])
            #expect(header.status == 410)
            #expect(try await doors.call("GET", "/v1/log?cursor=c1f1").status == 400)
            let number = try await doors.call(
                "GET", "/v1/tail?kind=all", fields: ["Last-Event-ID: 1"])
            #expect(number.status == 400)
        }
    }

    @Test func `a tap comes back on the tail, with whose it was`() async throws {
        try await withDoors { doors in
            try await Self.card(doors)
            let tail = try doors.curl(
                "GET", "/v1/tail?fact=action", fields: ["Accept: text/event-stream"],
                options: ["-N"])
            defer { tail.end() }
            _ = await tail.wait { $0.contains("id: ") }
            let answer = try await Self.tap(
                doors, #""activity":"cat-7","intent":"Feed","parameters":{"food":"fish"}"#,
                fields: ["Idempotency-Key: tap-1"])
            #expect(answer.status == 202, "\(answer.text)")
            let id = try #require(try json(answer)["action"]?.string)
            let text = await tail.wait { $0.contains(id) && $0.hasSuffix("\n\n") }
            let line = try #require(Self.lines(text.replacing("data: ", with: "")).first)
            #expect(line["fact"]?.string == "action")
            #expect(line["activity"]?.string == "cat-7")
            #expect(line["device"]?.string == "phone-1")
            #expect(line["intent"]?.string == "Feed")
            #expect(line["parameters"]?["food"]?.string == "fish")
            #expect(line["owner"] == nil && line["body"] == nil)
            let page = try json(try await doors.call("GET", "/v1/log?fact=action"))
            #expect(page["events"]?.elements.map { $0["action"]?.string } == [id])
        }
    }

    @Test func `an action is posted by its own phone, or by an operator`() async throws {
        try await withDoors { doors in
            try await Self.card(doors)
            let own = try await doors.mint("device:phone-1")
            let other = try await doors.mint("device:phone-2")
            let producer = try await doors.mint("produce,observe")
            #expect(try await Self.tap(doors, key: own).status == 202)
            #expect(try await Self.tap(doors, key: other).status == 403)
            #expect(try await Self.tap(doors, key: producer).status == 403)
            let twice = try await doors.call(
                "POST", "/v1/devices/phone-1/actions",
                #"{"activity":"cat-7","at":"2026-11-18T11:06:40Z","expires":"10m"}"#, key: own,
                fields: ["Idempotency-Key: k"])
            let again = try await doors.call(
                "POST", "/v1/devices/phone-1/actions",
                #"{"activity":"cat-7","at":"2026-11-18T11:06:40Z","expires":"10m"}"#, key: own,
                fields: ["Idempotency-Key: k"])
            #expect(again.status == 202 && again.fields["idempotent-replayed"] == "true")
            #expect(try json(twice)["action"]?.string == json(again)["action"]?.string)
            #expect(try await Self.tap(doors, #""link":"app://x""#).status == 422)
        }
    }

    /// A wall clock that runs ahead of the usual one.
    private struct LaterClock: WallClock {
        let ahead: Span
        func now() -> Instant { FixedClock().now() + ahead }
    }

    @Test func `an action outlives a restart between tap and tail, and not its own time`()
        async throws
    {
        let log = InMemoryEventLog()
        let begin = Mutex("")
        try await withDoors(log: log) { doors in
            try await Self.card(doors)
            let place = await doors.relay.place(of: DoorsUnderTest.tenant)
            let cursor = LogCursor(await doors.relay.logID(of: DoorsUnderTest.tenant), place)
            begin.withLock { $0 = cursor.text }
            #expect(try await Self.tap(doors, #""activity":"cat-7","expires":"2m""#).status == 202)
        }
        let path = "/v1/tail?fact=action&cursor=" + begin.withLock { $0 }
        try await withDoors(log: log) { doors in
            let tail = try doors.curl(
                "GET", path, fields: ["Accept: application/x-ndjson"], options: ["-N"])
            defer { tail.end() }
            let text = await tail.wait { $0.contains("\"action\":\"act_") }
            #expect(Self.lines(text).first?["activity"]?.string == "cat-7", "\(text)")
        }
        let later = LaterClock(ahead: .minutes(10))
        try await withDoors(log: log, wallClock: later) {
            // curl shows the head only with the first of the body.
            $0.heartbeat = .milliseconds(50)
        } _: { doors in
            let tail = try doors.curl(
                "GET", path, fields: ["Accept: application/x-ndjson"], options: ["-N"])
            let text = await tail.wait { $0.contains("\n\n\n") }
            tail.end()
            #expect(!text.contains("act_"), "\(text)")
            let page = try json(try await doors.call("GET", "/v1/log?fact=action"))
            let line = try #require(page["events"]?.elements.first { _ in true })
            #expect(line["expired"]?.bool == true)
        }
    }
}
