import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// Timelines that show an activity's state.
@Suite struct TimelineSourceTests {
    private static let door =
        #"{"subject":{"key":"door-7","readers":{"users":["u42"]}},"from":{"activity":"door-7"},"#
        + #""url":"app://door-7"}"#

    /// A door with a code that no widget may see.
    private func rig(type: String? = #"{"families":{"systemSmall":["/locked"]}}"#) -> Rig {
        var rig = TimelineTests.rig()
        if let type { rig.type(type, named: "Door") }
        rig.timeline(Self.door, kind: "door")
        return rig
    }

    private func start(_ rig: inout Rig, _ state: String = #"{"locked":true,"code":1}"#) {
        rig.command(
            .start, #"{"type":"Door","state":\#(state),"audience":{"user":"u43"}}"#, id: "door-7")
    }

    private func read(_ rig: borrowing Rig, _ reader: TimelineReader = .anybody) -> String? {
        let id = Identifier("door-7")!
        // A test reads what it has put.
        let entries = try? rig.core.entries(
            Identifier("door")!, app: nil, .key(id), family: .systemSmall, by: reader,
            of: Rig.tenant, now: rig.now)
        return entries?.entries.first.map { "\($0.content)" }
    }

    @Test func `it shows the cut of the activity's state, and nothing if there is no cut`() {
        var rig = rig()
        #expect(read(rig) == "{}")
        start(&rig)
        #expect(read(rig) == #"{"locked":true}"#)
        #expect(read(rig, .device(Identifier("phone")!, boundTo: nil)) == #"{"locked":true}"#)
        #expect(read(rig, .device(Identifier("other")!, boundTo: nil)) == nil)
        rig.command(.update, #"{"state":{"locked":false,"code":2}}"#, id: "door-7")
        #expect(read(rig) == #"{"locked":false}"#)
        #expect(rig.crash(recoverAt: 10) == [])
        #expect(read(rig) == #"{"locked":false}"#)
        rig.command(.end, "{}", id: "door-7")
        #expect(read(rig) == #"{"locked":false}"#, "what it ended with")
    }

    @Test func `the timelines of one activity have a bound of readers`() {
        var rig = rig()
        let readers = (1...499).map { "\"r\($0)\"" }.joined(separator: ",")
        func put(_ kind: String, _ users: String, from activity: String = "door-7") {
            rig.timeline(
                #"{"subject":{"key":"k","readers":{"users":[\#(users)]}},"#
                    + #""from":{"activity":"\#(activity)"}}"#, kind: kind)
        }
        put("a", readers)
        put("b", readers)
        rig.timeline(#"{"subject":{"user":"u1"},"from":{"activity":"door-7"}}"#, kind: "c")
        #expect(rig.lastRefusal == nil, "with the rig's own: 1,000")
        rig.timeline(#"{"subject":{"device":"phone"},"from":{"activity":"door-7"}}"#, kind: "d")
        #expect(rig.lastRefusal == .limitReached)
        put("b", readers)
        #expect(rig.lastRefusal == nil, "in the place of what is there")
        put("d", readers, from: "door-8")
        #expect(rig.lastRefusal == nil)
    }

    @Test func `choices count the states that they show`() throws {
        var rig = rig(type: #"{"families":{"systemSmall":["/a"]}}"#)
        start(&rig, #"{"a":"\#(String(repeating: "x", count: 3_000))"}"#)
        for index in 1...120 {
            rig.timeline(
                Self.door.replacing("\"door-7\",\"r", with: "\"k\(index)\",\"r"), kind: "door")
        }
        func count(_ most: Int) throws -> Int {
            try rig.choices("door", family: .systemSmall, atMost: most).choices.count
        }
        #expect(try (75...85).contains(count(1_000)), "256 KiB, and the bodies of the timelines")
        #expect(try count(1) == 1)
        // The next page goes on there.
        let first = try rig.choices("door", family: .systemSmall)
        let second = try rig.choices("door", family: .systemSmall, after: first.next)
        #expect(second.next == nil)
        #expect(first.choices.count + second.choices.count == 121)
    }

    @Test func `a change that is not durable yet is not shown`() {
        var rig = rig()
        rig.commitsByItself = false
        start(&rig)
        #expect(read(rig) == "{}")
        while rig.commit() {}
        #expect(read(rig) == #"{"locked":true}"#)
    }

    @Test func `a change reloads the widget only where some cut differs`() {
        var rig = rig()
        start(&rig)
        rig.advance(to: 3_000)
        let before = ReloadTests.line(rig)
        rig.command(.update, #"{"state":{"locked":true,"code":2}}"#, id: "door-7")
        rig.advance(to: 6_000)
        #expect(ReloadTests.line(rig) == before, "only the code has changed")
        rig.command(.update, #"{"state":{"locked":false,"code":2}}"#, id: "door-7")
        rig.advance(to: 9_000)
        #expect(ReloadTests.line(rig) == before + " 6000:widgets ee")
    }

    @Test func `without cuts a significant value decides, and without a type every one`() {
        var rig = rig(type: #"{"significant":["/locked"]}"#)
        start(&rig)
        rig.advance(to: 3_000)
        let before = ReloadTests.line(rig)
        rig.command(.update, #"{"state":{"locked":true,"code":2}}"#, id: "door-7")
        rig.advance(to: 6_000)
        #expect(ReloadTests.line(rig) == before)
        #expect(read(rig) == #"{"locked":true,"code":2}"#, "all of it, as no family has a cut")
        var other = self.rig(type: nil)
        start(&other)
        other.advance(to: 3_000)
        let first = ReloadTests.line(other)
        other.command(.update, #"{"state":{"locked":true,"code":2}}"#, id: "door-7")
        other.advance(to: 6_000)
        #expect(ReloadTests.line(other) == first + " 3000:widgets ee")
    }

    @Test func `an activity that shows elsewhere, or no longer, reloads no widget`() {
        var rig = rig()
        start(&rig)
        rig.timeline(
            Self.door.replacing(#""activity":"door-7""#, with: #""activity":"x""#), kind: "door")
        rig.advance(to: 3_000)
        let before = ReloadTests.line(rig)
        rig.command(.update, #"{"state":{"locked":false,"code":2}}"#, id: "door-7")
        rig.advance(to: 6_000)
        #expect(ReloadTests.line(rig) == before)
        #expect(read(rig) == "{}")
    }

    @Test(arguments: ["content", "entries", "schedule", "type"])
    func `content beside from is refused`(_ name: String) {
        let value =
            switch name {
            case "content": "{}"
            case "type": #""Door""#
            case "entries": #"[{"date":"2023-01-01T00:00:00Z","content":{}}]"#
            default: #"{"daily":{"at":"06:00","zone":"UTC"}}"#
            }
        let body = Self.door.dropLast() + #","\#(name)":\#(value)}"#
        let error = #expect(throws: FieldErrors.self) {
            try TimelineRequest(reading: Rig.json(String(body)))
        }
        #expect(error?.errors.map(\.pointer).contains("/\(name)") == true)
    }

    @Test func `several are one entry, in their order`() throws {
        var rig = rig()
        start(&rig)
        rig.timeline(
            #"{"subject":{"key":"door-8"},"content":{"locked":false},"url":"app://door-8","#
                + #""entries":[{"date":"2200-01-01T00:00:00Z","content":{}}]}"#, kind: "door")
        let all = try ["door-8", "door-7"].map { id in
            try rig.core.entries(
                Identifier("door")!, app: nil, .key(Identifier(id)!), family: nil, by: .anybody,
                of: Rig.tenant, now: rig.now)
        }
        let now = rig.core.wall(rig.now)
        let together = TimelineEntries.together([all[0], nil, all[1]], at: now)
        let entry = try #require(together.entries.first)
        #expect("\(entry.content)" == #"{"items":[{"locked":false},{},{"locked":true}]}"#)
        #expect(entry.url == "app://door-8")
        #expect(entry.links.map { "\($0)" } == #"["app://door-8","app://door-7"]"#)
        #expect(together.policy == .after(Instant(rfc3339: "2200-01-01T00:00:00Z")!))
        let other = TimelineEntries.together([all[1], nil, all[0]], at: now)
        #expect(other.version != together.version)
        #expect(
            TimelineEntries.together([all[0], nil, all[1]], at: now).version == together.version)
        #expect(TimelineEntries.together([nil, nil], at: now).policy == .never)
        #expect(together.begun?.isProvisional == false)
        // What is not in the answer is not in its version.
        rig.timeline(
            #"{"subject":{"key":"door-8"},"content":{"locked":false},"url":"app://door-8","#
                + #""entries":[{"date":"2200-01-01T00:00:00Z","content":{"b":1}}]}"#, kind: "door")
        let changed = try rig.core.entries(
            Identifier("door")!, app: nil, .key(Identifier("door-8")!), family: nil, by: .anybody,
            of: Rig.tenant, now: rig.now)
        #expect(
            TimelineEntries.together([changed, nil, all[1]], at: now).version == together.version)
    }
}
