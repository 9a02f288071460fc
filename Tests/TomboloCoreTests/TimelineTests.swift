import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// What widgets show, and when their producers are asked. The rig's epoch is Tuesday, 14 November
/// 2023, 22:13:20 UTC; the next Monday 06:00 in Berlin is 456,400 s later.
@Suite struct TimelineTests {
    static let monday = 456_400.0
    static let week = 604_800.0

    static func rig() -> Rig {
        var rig = Rig { configuration in
            configuration.zones = RuledZones()
            configuration.limits.timelineJitter = .zero
        }
        rig.register("phone", #"{"user":"u42","time_zone":"Europe/Berlin","os":"26.1"}"#)
        rig.token("widget", "ee")
        return rig
    }

    static let profile = """
        {"subject":{"user":"u42"},"content":{"rank":3},"url":"app://me",
        "schedule":{"weekly":{"on":"monday","at":"06:00","zone":"Europe/Berlin"},"count":2}}
        """

    private func line(_ rig: borrowing Rig, _ kind: String = "profile") -> String {
        rig.entries(kind).map { entries in
            entries.entries.map { entry in
                let at = entry.date - Rig.epoch
                return "\(Rig.text(at)):\(entry.content)\(entry.isProvisional ? "?" : "")"
            }.joined(separator: " ")
        } ?? "none"
    }

    private func dues(_ rig: borrowing Rig) -> [String] {
        rig.facts.filter { $0.kind == "timeline.due" }.map {
            "\(Rig.text($0.recordedAt - Rig.epoch)) \(String(decoding: $0.body, as: UTF8.self))"
        }
    }

    @Test func `entries are now's, and a provisional copy for each boundary to come`() {
        var rig = Self.rig()
        rig.timeline(Self.profile)
        #expect(line(rig) == #"0:{"rank":3} 456400:{"rank":3}? 1061200:{"rank":3}?"#)
        rig.advance(to: Self.monday - 1)
        #expect(line(rig) == #"0:{"rank":3} 456400:{"rank":3}? 1061200:{"rank":3}?"#)
        // At 06:00:00 sharp now is that entry.
        rig.advance(to: Self.monday)
        #expect(line(rig) == #"456400:{"rank":3}? 1061200:{"rank":3}? 1666000:{"rank":3}?"#)
        rig.advance(to: Self.monday + 60)
        rig.timeline(Self.profile.replacing("3}", with: "2}"))
        #expect(line(rig) == #"456460:{"rank":2} 1061200:{"rank":2}? 1666000:{"rank":2}?"#)
    }

    @Test func `after each boundary the producer is asked once, over restarts too`() {
        var rig = Self.rig()
        rig.timeline(Self.profile)
        rig.advance(to: Self.monday + 100)
        let first =
            #"{"kind":"profile","app":"com.example.app","user":"u42","cause":"boundary","#
            + #""at":"2023-11-20T05:00:00.000Z"}"#
        #expect(dues(rig) == ["456400 \(first)"])
        #expect(rig.crash(recoverAt: Self.monday + 200) == [])
        rig.advance(to: Self.monday + 10_000)
        #expect(dues(rig).count == 1)
        // Of two that no relay was there for, the newest.
        _ = rig.crash(recoverAt: Self.monday + 2.5 * Self.week)
        rig.advance(to: Self.monday + 2.5 * Self.week + 10)
        #expect(dues(rig).count == 2)
        #expect(dues(rig).last?.contains("2023-12-04T05:00:00.000Z") == true)
        rig.advance(to: Self.monday + 4.5 * Self.week)
        #expect(dues(rig).count == 4)
    }

    @Test func `a fleet is asked over the jitter, each at a time of its own`() {
        var rig = Rig { $0.zones = RuledZones() }
        for user in 0..<50 {
            rig.timeline(Self.profile.replacing("u42", with: "u\(user)"))
        }
        rig.advance(to: Self.monday + 600)
        let asked = rig.facts.filter { $0.kind == "timeline.due" }.map(\.recordedAt)
        #expect(asked.count == 50)
        #expect(Set(asked).count == 50)
        let monday = Rig.epoch + .seconds(Int64(Self.monday))
        #expect(asked.allSatisfy { $0 >= monday && $0 <= monday + .minutes(10) })
        #expect(asked.count { $0 > monday + .minutes(5) } > 10)
    }

    @Test func `a change reloads the devices that show it, and the same again none`() {
        var rig = Self.rig()
        rig.timeline(Self.profile)
        rig.advance(to: 1_000)
        rig.timeline(Self.profile)
        rig.advance(to: 2_000)
        rig.timeline(Self.profile.replacing("3}", with: "4}"))
        rig.advance(to: 3_000)
        #expect(ReloadTests.line(rig) == "0:widgets ee 2000:widgets ee")
        rig.timeline(Self.profile.replacing("u42", with: "nobody"))
        rig.advance(to: 4_000)
        #expect(rig.pushes.count == 2)
    }

    @Test func `a policy asks before the last entry, at a date, or never`() {
        var rig = Self.rig()
        let entries =
            #""entries":[{"date":"2023-11-15T00:00:00Z","content":{"a":1}},"#
            + #"{"date":"2023-11-16T00:00:00Z","content":{"a":2}}]"#
        rig.timeline(#"{"subject":{"user":"u42"},\#(entries)}"#, kind: "end")
        rig.timeline(
            #"{"subject":{"user":"u42"},"content":{},"policy":{"after":"2023-11-15T06:00:00Z"}}"#,
            kind: "after")
        rig.timeline(
            Self.profile.replacing(#""url""#, with: #""policy":"never","url""#), kind: "never")
        #expect(line(rig, "end") == #"6400:{"a":1} 92800:{"a":2}"#)
        rig.advance(to: 7_000)
        #expect(line(rig, "end") == #"6400:{"a":1} 92800:{"a":2}"#)
        rig.advance(to: 100_000)
        #expect(line(rig, "end") == #"92800:{"a":2}"#)
        rig.advance(to: Self.monday + 1_000)
        let asked = dues(rig)
        #expect(asked.count == 2, "\(asked)")
        #expect(asked.first?.contains(#""cause":"after","at":"2023-11-15T06:00:00.000Z""#) == true)
        #expect(asked.last?.contains(#""cause":"at_end","at":"2023-11-15T23:50:00.000Z""#) == true)
    }

    @Test func `entries that were over when they came ask nobody`() {
        var rig = Self.rig()
        for _ in 0..<3 {
            rig.timeline(
                #"{"subject":{"user":"u42"},"entries":[{"date":"2023-01-01T00:00:00Z","content":{}}]}"#
            )
            rig.advance(to: 10_000)
        }
        #expect(dues(rig).isEmpty)
    }

    @Test func `a device's clocks count, also when it moves to another zone`() {
        var rig = Self.rig()
        rig.timeline(Self.profile.replacing("Europe/Berlin", with: "device"))
        #expect(line(rig).hasPrefix(#"0:{"rank":3} 456400:"#))
        rig.register("phone", #"{"user":"u42","time_zone":"Asia/Tokyo","os":"26.1"}"#)
        // Eight hours earlier.
        #expect(line(rig).hasPrefix(#"0:{"rank":3} 427600:"#))
        rig.advance(to: Self.monday - 1)
        #expect(dues(rig).count == 1)
        #expect(dues(rig).first?.hasPrefix("427600 ") == true)
    }

    @Test func `a device reads its own, its user's, and keys that name its user`() throws {
        var rig = Self.rig()
        let door = #"{"subject":{"key":"door-7","readers":{"users":["u42"]}},"content":{"d":7}}"#
        rig.timeline(door, kind: "door")
        rig.timeline(door.replacing("-7", with: "-8").replacing("u42", with: "u43"), kind: "door")
        rig.timeline(#"{"subject":{"key":"door-9"},"content":{"d":9}}"#, kind: "door")
        rig.timeline(#"{"subject":{"device":"phone"},"content":{"own":1}}"#, kind: "own")
        rig.timeline(#"{"subject":{"device":"other"},"content":{"own":2}}"#, kind: "own")
        rig.timeline(#"{"subject":{"user":"u43"},"content":{"of":43}}"#, kind: "profile")
        func read(_ kind: String, _ subject: TimelineSubject?) -> String? {
            try? rig.readEntries(kind, subject).entries.first?.content.description  // refused: nil
        }
        let id = { (text: String) in Identifier(text)! }
        #expect(read("door", .key(id("door-7"))) == #"{"d":7}"#)
        #expect(read("door", .key(id("door-8"))) == nil)
        #expect(read("door", .key(id("door-9"))) == nil)
        #expect(read("own", nil) == #"{"own":1}"#)
        #expect(read("own", .device(id("other"))) == nil)
        #expect(read("profile", .user("u43")) == nil)
        // Without a subject and without anything of its own: one empty entry.
        #expect(read("profile", nil) == "{}")
        #expect(try rig.choices("door").choices.map(\.key.rawValue) == ["door-7"])
        // Who may no longer, does not.
        rig.timeline(door.replacing("u42", with: "u44"), kind: "door")
        #expect(read("door", .key(id("door-7"))) == nil)
        rig.register("phone", #"{"user":"u44","os":"26.1"}"#)
        #expect(read("door", .key(id("door-7"))) == #"{"d":7}"#)
    }

    @Test func `a key of a user before reads nothing of the user since`() throws {
        var rig = Self.rig()
        rig.timeline(Self.profile)
        #expect(try rig.readEntries("profile", bound: "u42").isEmpty == false)
        #expect(try rig.readEntries("profile", bound: "u41").isEmpty)
        #expect(throws: Refusal.self) {
            try rig.readEntries("profile", .user("u42"), bound: "u41")
        }
    }

    @Test func `a device that tells its token later has the reload then`() {
        var rig = Rig { $0.zones = RuledZones() }
        rig.register("phone", #"{"user":"u42","os":"26.1"}"#)
        rig.timeline(#"{"subject":{"user":"u42"},"content":{"rank":1}}"#)
        #expect(rig.lastStored?.unreachable == 1)
        #expect(rig.pushes.isEmpty)
        rig.token("widget", "ee")
        #expect(ReloadTests.line(rig) == "0:widgets ee")
    }

    @Test func `who may read no longer, or now, reloads`() {
        var rig = Self.rig()
        let door = #"{"subject":{"key":"door-7"},"content":{}}"#
        rig.timeline(door, kind: "door")
        #expect(rig.lastStored?.count == 0)
        let readers = door.replacing(#"-7""#, with: #"-7","readers":{"users":["u42"]}"#)
        rig.timeline(readers, kind: "door")
        #expect(rig.lastStored?.count == 1)
        rig.timeline(door, kind: "door")
        #expect(rig.lastStored?.count == 1)
    }

    @Test func `a list goes by bytes, also where names are equivalent`() {
        var rig = Self.rig()
        for user in ["\u{e9}", "e\u{301}"] {
            rig.timeline(Self.profile.replacing("u42", with: user))
        }
        var listing = TimelineListing(Rig.tenant, kind: nil, after: nil, limit: 1)
        while listing.place != nil { rig.core.collect(&listing) }
        var rest = TimelineListing(
            Rig.tenant, kind: nil, after: listing.keys[0].order, limit: 1)
        while rest.place != nil { rig.core.collect(&rest) }
        #expect(rest.keys.count == 1)
    }

    @Test func `what would be too much, or goes by no clock, is refused`() {
        var rig = Self.rig()
        rig.timeline(Self.profile.replacing("Europe/Berlin", with: "Mars/Base"))
        #expect(rig.lastRefusal == .invalidField)
        let long = String(repeating: "x", count: 20_000)
        rig.timeline(
            Self.profile.replacing(#""rank":3"#, with: #""p":"\#(long)""#)
                .replacing(#""count":2"#, with: #""count":400"#))
        #expect(rig.lastRefusal == .invalidField)
        rig.timeline(Self.profile, app: "com.example.other")
        #expect(rig.lastRefusal == .unknownApp)
        #expect(rig.entries("profile")?.isEmpty == true)
    }

    @Test func `what was put by a clock that ran ahead counts from now on`() {
        var rig = Self.rig()
        rig.timeline(Self.profile)
        var recovery = rig.recovery()
        let ahead = (Rig.epoch + .hours(10 * 365 * 24)).nanoseconds
        recovery.records = recovery.records.map { record in
            guard record.space == .timeline, let value = record.value else { return record }
            let text = String(decoding: value, as: UTF8.self)
                .replacing("\(Rig.epoch.nanoseconds)", with: "\(ahead)")
            return Record(space: .timeline, number: record.number, value: Array(text.utf8))
        }
        #expect(rig.recover(recovery) == [])
        #expect(line(rig) == #"0:{"rank":3} 456400:{"rank":3}? 1061200:{"rank":3}?"#)
        rig.advance(to: Self.monday + 10)
        #expect(dues(rig).count == 1)
    }

    @Test func `a full disk takes no timeline`() {
        var rig = Self.rig()
        rig.step(.room(false))
        rig.timeline(Self.profile)
        #expect(rig.lastRefusal == .logFull)
        rig.deleteTimeline("profile", .user("u42"))
        #expect(rig.lastRefusal == .unknownTimeline)
        rig.step(.room(true))
        rig.timeline(Self.profile)
        #expect(rig.lastStored?.kind == .created)
    }

    @Test func `a timeline that is deleted is gone, and one of an erased device too`() {
        var rig = Self.rig()
        rig.timeline(Self.profile)
        rig.advance(to: 400)
        #expect(rig.pushes.count == 1)
        rig.deleteTimeline("profile", .user("u42"))
        #expect(rig.lastStored?.kind == .deleted)
        rig.advance(to: 500)
        #expect(rig.pushes.count == 2, "what is gone shows no longer")
        rig.deleteTimeline("profile", .user("u42"))
        #expect(rig.lastRefusal == .unknownTimeline)
        rig.timeline(#"{"subject":{"device":"phone"},"content":{"own":1}}"#, kind: "own")
        let key = DeviceKey(tenant: Rig.tenant, id: Identifier("phone")!)
        rig.step(.erase(.device(key), Ticket(77)))
        _ = rig.crash(recoverAt: 1_000)
        rig.deleteTimeline("own", .device(Identifier("phone")!))
        #expect(rig.lastRefusal == .unknownTimeline)
        rig.advance(to: 2 * Self.monday)
        #expect(dues(rig).isEmpty)
    }

    @Test func `a record that cannot be read is set aside, and its number is not given again`() {
        var rig = Self.rig()
        rig.timeline(Self.profile)
        var recovery = rig.recovery()
        let broken = Record(space: .timeline, number: 9, value: Array(#"{"kind":"x"}"#.utf8))
        recovery.records.append(broken)
        #expect(broken.fault != nil)
        let damage = rig.recover(recovery)
        #expect(damage == ["the record of timeline number 9 cannot be read"])
        rig.timeline(Self.profile.replacing("u42", with: "u50"))
        #expect(rig.stored.last { $0.space == .timeline }?.number == 10)
        #expect(line(rig).hasPrefix(#"0:{"rank":3}"#))
    }

    @Test func `timelines come back as they were, with what was asked`() {
        var rig = Self.rig()
        for user in 0..<20 { rig.timeline(Self.profile.replacing("u42", with: "u\(user)")) }
        rig.advance(to: Self.monday + 10)
        let before = rig.timelines()
        #expect(before.count == 20)
        _ = rig.crash(recoverAt: Self.monday + 20)
        let after = rig.timelines()
        #expect(after.map(\.key) == before.map(\.key))
        #expect(after.map(\.timeline) == before.map(\.timeline))
        #expect(after.map(\.dueAt) == before.map(\.dueAt))
        #expect(dues(rig).count == 20)
    }
}

extension Rig {
    mutating func register(_ device: String, _ body: String) {
        // A test's own text.
        guard let registration = try? DeviceRegistration(reading: Rig.json(body)) else {
            Issue.record("\(body)")
            return
        }
        tell(.register(registration), device)
        #expect(lastRefusal == nil, "\(body)")
    }

    mutating func timeline(_ body: String, kind: String = "profile", app: String? = nil) {
        do {
            var request = try TimelineRequest(reading: Rig.json(body))
            request.app = app
            step(.timeline(.put(request, kind: Identifier(kind)!), Rig.tenant, Ticket(1_234)))
        } catch {
            Issue.record("\(body): \(error)")
        }
    }

    mutating func deleteTimeline(_ kind: String, _ subject: TimelineSubject) {
        step(
            .timeline(
                .delete(kind: Identifier(kind)!, app: nil, subject), Rig.tenant, Ticket(1_235)))
    }

    func readEntries(
        _ kind: String, _ subject: TimelineSubject? = nil, bound: String? = nil
    ) throws -> TimelineEntries {
        try core.entries(
            Identifier(kind)!, app: nil, subject, family: nil,
            by: .device(Identifier("phone")!, boundTo: bound), of: Rig.tenant, now: now)
    }

    func entries(_ kind: String) -> TimelineEntries? {
        try? readEntries(kind)  // a test reads what it has put
    }

    func timelines() -> [TimelineView] {
        var listing = TimelineListing(Rig.tenant, kind: nil, after: nil, limit: 100)
        while listing.place != nil { core.collect(&listing) }
        return listing.keys.compactMap { core.timeline($0) }
    }
}
