import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloRelay

@testable import TomboloServer

/// What the doors of `why` say before any history is read.
@Suite struct ExplainDoorTests {
    private static let start = """
        {"type":"RunnerWidgetAttributes","app":"com.example.app","state":{"lap":0},
        "audience":{"device":"phone-1"},"alert":{"title":"Go"}}
        """

    @Test func `a device whose first change waits is explained by its user`() async throws {
        try await withPhone { doors in
            _ = try await doors.call(
                "PUT", "/v1/devices/phone-1",
                #"{"app":"com.example.app","environment":"sandbox","user":"u1"}"#)
            let nothing = try json(try await doors.call("POST", "/v1/explain", #"{"user":"u1"}"#))
            #expect(nothing["explanations"]?.count == 0, "\(nothing.json)")
            #expect(try await doors.call("POST", "/v1/pauses", #"{"all":true}"#).status == 201)
            let started = try await doors.call("PUT", "/v1/activities/cat-7", Self.start)
            #expect(started.status == 201, "\(started.text)")
            let found = try json(try await doors.call("POST", "/v1/explain", #"{"user":"u1"}"#))
            let first = found["explanations"]?.elements.first { _ in true }
            #expect(first?["activity"]?.string == "cat-7", "\(found.json)")
            let suspect = first?["suspects"]?.elements.first { _ in true }
            #expect(suspect?["code"]?.string == "paused", "\(found.json)")
        }
    }

    @Test func `a time that is yet to come is refused`() async throws {
        try await withDoors { doors in
            _ = try await doors.call("PUT", "/v1/activities/cat-7", Self.start)
            let path = "/v1/activities/cat-7/explain?device=phone-1&at="
            let ahead = try await doors.call("GET", path + "9998-01-01T00:00:00Z")
            #expect(ahead.status == 400, "\(ahead.text)")
            #expect(ahead.text.contains("yet to come"), "\(ahead.text)")
        }
    }

    @Test func `an activity that is not in the log may have been in it once`() async throws {
        try await withDoors { doors in
            let answer = try await doors.call("GET", "/v1/activities/post2")
            #expect(answer.status == 404)
            #expect(answer.text.contains("was lost in a restore"), "\(answer.text)")
            #expect(!answer.text.contains("was ever started"))
        }
    }

    @Test func `one event is explained on widget, control and card`() async throws {
        try await withDoors { doors in
            try await prepareDoors(doors)
            func surfaces() async throws -> [String: (answer: String, codes: [String])] {
                let why = try json(
                    try await doors.call("GET", "/v1/activities/door-7/explain?device=phone-1"))
                var found: [String: (String, [String])] = [:]
                for one in why["surfaces"].map({ Array($0.elements) }) ?? [] {
                    let codes = one["because"]?.elements.compactMap { $0["code"]?.string } ?? []
                    found[one["surface"]?.string ?? ""] = (one["answer"]?.string ?? "", codes)
                }
                return found
            }
            func update(_ state: String) async throws {
                let answer = try await doors.call(
                    "PATCH", "/v1/activities/door-7", #"{"state":\#(state)}"#)
                #expect(answer.status == 200, "\(answer.text)")
            }
            let minted = try json(
                try await doors.call(
                    "POST", "/v1/keys", #"{"scopes":["device:phone-1"],"user":"u1"}"#))
            let key = try #require(minted["key"]?.string)
            let entries = "/v1/timelines/door/entries?config=door-7&family=systemSmall"
            #expect(try await doors.call("GET", entries, key: key).status == 200)
            while doors.sender.pushes.count < 2 { await Task.yield() }
            // The light changes, which no cut has, and no type takes for a change.
            try await update(#"{"lux":2}"#)
            let same = try await surfaces()
            #expect(Set(same.keys) == ["widget:door", "control:lock"], "\(same)")
            #expect(same["control:lock"]?.codes.last == "same_content", "\(same)")
            #expect(same["widget:door"]?.codes.contains("fetched") == true, "\(same)")
            let alone = try await doors.call(
                "GET", "/v1/timelines/door/explain?device=phone-1&config=nope")
            #expect(alone.text.contains("it gets 404"), "\(alone.text)")
            // The word changes; the surfaces were reloaded just before.
            try await update(#"{"word":"unlocked"}"#)
            var held = try await surfaces()
            // What a change owes is granted in a turn after its answer.
            for _ in 0..<200
            where held["control:lock"]?.codes.last != "spacing" && doors.sender.pushes.count == 2 {
                held = try await surfaces()
            }
            // On a busy machine a control's spacing is over by then, and it is reloaded again.
            let isHeld = held["control:lock"]?.codes.last == "spacing"
            #expect(isHeld || doors.sender.pushes.count > 2, "\(held)")
            #expect(held["widget:door"]?.codes.contains("fetched_before") == true, "\(held)")
            #expect(held["widget:door"]?.codes.last == "spacing", "\(held)")
        }
    }

    /// A phone with a widget and a control that show the first of two doors.
    private func prepareDoors(_ doors: DoorsUnderTest) async throws {
        let type = """
            {"families":{"systemSmall":["/word"]},"significant":["/word"],
            "reloads":{"widgets":false,"controls":["lock"]}}
            """
        _ = try await doors.call("PUT", "/v1/types/Door", type)
        _ = try await doors.call(
            "PUT", "/v1/devices/phone-1",
            #"{"app":"com.example.app","environment":"sandbox","user":"u1","os":"26.1"}"#)
        for name in ["widget", "control:lock"] {
            let text = String(repeating: name == "widget" ? "ab" : "cd", count: 32)
            _ = try await doors.call(
                "PUT", "/v1/devices/phone-1/tokens/\(name)", #"{"token":"\#(text)"}"#)
        }
        let start = """
            {"type":"Door","audience":{"user":"u1","start":"adopt"},
            "state":{"word":"locked","lux":1}}
            """
        _ = try await doors.call("PUT", "/v1/activities/door-7", start)
        for (kind, activity) in [("door", "door-7"), ("other", "door-8")] {
            let body =
                #"{"subject":{"key":"\#(activity)","readers":{"users":["u1"]}},"#
                + #""from":{"activity":"\#(activity)"}}"#
            _ = try await doors.call("PUT", "/v1/timelines/\(kind)", body)
        }
    }

    @Test func `an explanation asks the log few questions`() async throws {
        let former = try CountedLog()
        try await withDoors(log: former.log) { doors in
            try await doors.registerPhone()
            _ = try await doors.call("PUT", "/v1/activities/cat-7", Self.start)
            for lap in 1...700 {
                _ = try await doors.call(
                    "PATCH", "/v1/activities/cat-7", #"{"state":{"lap":\#(lap)}}"#)
            }
        }
        await former.log.close()
        let counted = try CountedLog(after: former)
        try await withDoors(log: counted.log) { doors in
            for version in [701, 350, 2] {
                _ = counted.takeQuestions()
                let path = "/v1/activities/cat-7/explain?device=phone-1&version=\(version)"
                let why = try await doors.call("GET", path)
                #expect(why.status == 200, "\(why.text)")
                let questions = counted.takeQuestions()
                #expect(questions.count <= 40, "\(questions.count): \(questions)")
            }
        }
        await counted.log.close()
    }

    @Test func `a version that came while the clock ran ahead and was accepted does not wait`()
        async throws
    {
        let log = InMemoryEventLog()
        let phone = #"{"app":"com.example.app","environment":"sandbox","os":"26.1"}"#
        try await withDoors(log: log, wallClock: ClockAhead()) { doors in
            _ = try await doors.call("PUT", "/v1/devices/phone-1", phone)
            _ = try await doors.call("PUT", "/v1/activities/cat-7", Self.start)
            #expect(doors.sender.pushes.isEmpty, "the phone has no start token")
        }
        try await withDoors(log: log.crashed()) { doors in
            try await doors.putToken(
                "start:RunnerWidgetAttributes", "00112233445566778899aabbccddeeff")
            while doors.sender.pushes.isEmpty { await Task.yield() }
            let why = try await doors.call("GET", "/v1/activities/cat-7/explain?device=phone-1")
            #expect(why.text.contains("Version 1 went to phone-1."), "\(why.text)")
            #expect(!why.text.contains("still waits"), "\(why.text)")
        }
    }
}

/// Two hours ahead of the clock that the doors have else.
private struct ClockAhead: WallClock {
    func now() -> Instant { FixedClock().now() + .hours(2) }
}
