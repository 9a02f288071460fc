import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// What of a state the widgets of each family get (`families` of a type).
@Suite struct FamilyCutTests {
    private static let state =
        #"{"locked":true,"code":"1234","door":{"name":"Main","pin":7},"history":[{"who":"Ada"},"#
        + #"{"who":"Bob"},{"who":"Cy"}],"~a/b":1}"#

    private static let families =
        #"{"systemSmall":["/door/name","/locked"],"#
        + #""systemMedium":["/door/name",{"path":"/history","length":2}],"#
        + #""accessoryInline":["/locked",{"path":"/history","length":1}]}"#

    private func cuts(_ families: String, state: String? = nil) throws -> FamilyCuts {
        let schema = state.map { #""state":\#($0),"# } ?? ""
        let body = #"{\#(schema)"families":\#(families)}"#
        return try #require(try ActivityType(reading: Rig.json(body)).families)
    }

    private func rig(_ families: String = Self.families) -> Rig {
        var rig = TimelineTests.rig()
        rig.type(#"{"families":\#(families)}"#, named: "Door")
        return rig
    }

    private func content(_ rig: borrowing Rig, _ family: WidgetFamily?) -> String? {
        rig.cutEntries(family)?.entries.first.map { "\($0.content)" }
    }

    @Test func `each family gets its own, and without one the union`() throws {
        let cuts = try cuts(Self.families)
        let state = Rig.json(Self.state).json
        #expect(
            cuts[.systemSmall]?.applied(to: state).description
                == #"{"locked":true,"door":{"name":"Main"}}"#)
        #expect(
            cuts[.systemMedium]?.applied(to: state).description
                == #"{"door":{"name":"Main"},"history":[{"who":"Ada"},{"who":"Bob"}]}"#)
        #expect(
            cuts[.accessoryInline]?.applied(to: state).description
                == #"{"locked":true,"history":[{"who":"Ada"}]}"#)
        #expect(
            cuts.union.applied(to: state).description
                == #"{"locked":true,"door":{"name":"Main"},"history":[{"who":"Ada"},{"who":"Bob"}]}"#
        )
        #expect(cuts[.systemLarge] == nil)
        #expect(cuts.families == [.systemSmall, .systemMedium, .accessoryInline])
    }

    @Test func `a family that asks again costs no cut`() throws {
        let (hashes, cuts) = (CutHashes(), try cuts(Self.families))
        let (small, medium) = (try #require(cuts[.systemSmall]), try #require(cuts[.systemMedium]))
        var asked = 0
        func ask(_ places: [Int?], _ family: WidgetFamily, _ cut: FamilyCut) -> [UInt64] {
            hashes.hashes(.all, of: places, family, cut, among: 3) {
                asked += 1
                return places.map { UInt64(($0 ?? 8) + 1) }
            }
        }
        #expect(ask([nil, 0, 2], .systemSmall, small) == [9, 1, 3])
        #expect(ask([0, 2, nil], .systemSmall, small) == [1, 3, 9])
        #expect(asked == 1)
        #expect(ask([1, 2], .systemSmall, small) == [2, 3])
        #expect(ask([nil], .systemMedium, medium) == [9])
        #expect(asked == 3)
        // The type is registered again.
        #expect(ask([0], .systemSmall, medium) == [1])
        #expect(asked == 4)
    }

    @Test func `entries have one version, cut or not, and after a restart`() throws {
        var rig = rig()
        rig.timeline(
            #"{"subject":{"user":"u42"},"type":"Door","content":\#(Self.state)}"#, kind: "profile")
        let first = try rig.readCut(.systemSmall)
        let again = try rig.readCut(.systemSmall)
        #expect(first.version == again.version)
        #expect(first.entries.first?.content == again.entries.first?.content)
        #expect(try rig.readCut(.systemMedium).version != first.version)
        let faults = rig.recover(rig.recovery())
        #expect(faults.isEmpty)
        #expect(try rig.readCut(.systemSmall).version == first.version)
    }

    @Test(arguments: [
        // What the state has otherwise than the cut expects is not there.
        (#"["/door/name","/locked"]"#, #"{"door":"Main"}"#, "{}"),
        (#"["/door/name"]"#, #"{"door":null}"#, "{}"),
        (#"["/door/name"]"#, #"{"door":{"pin":7}}"#, #"{"door":{}}"#),
        (#"["/list/0"]"#, #"{"list":[1,2]}"#, "{}"),
        // The larger part wins, in any order.
        (
            #"["/door","/door/name"]"#, #"{"door":{"name":1,"pin":2}}"#,
            #"{"door":{"name":1,"pin":2}}"#
        ),
        (
            #"["/door/name","/door"]"#, #"{"door":{"name":1,"pin":2}}"#,
            #"{"door":{"name":1,"pin":2}}"#
        ),
        (
            #"[{"path":"/a","length":1},{"path":"/a","length":2}]"#, #"{"a":[1,2,3]}"#,
            #"{"a":[1,2]}"#
        ),
        // A length of what is no list has no effect.
        (#"[{"path":"/a","length":1}]"#, #"{"a":{"b":1,"c":2}}"#, #"{"a":{"b":1,"c":2}}"#),
        (#"["/~0a~1b"]"#, #"{"~a/b":1,"a/b":2}"#, #"{"~a/b":1}"#),
        // Names are equal where their bytes are.
        (#"["/caf\u00e9"]"#, "{\"cafe\u{301}\":1,\"caf\u{e9}\":2}", "{\"caf\u{e9}\":2}"),
        // The spelling of what is taken stays.
        (#"["/a"]"#, #"{"a":{"x": 1.0 ,"y":"\u00e9"}}"#, #"{"a":{"x": 1.0 ,"y":"\u00e9"}}"#),
    ])
    func `a cut takes what is there`(cut: String, state: String, left: String) throws {
        let cuts = try cuts(#"{"systemSmall":\#(cut)}"#)
        #expect(cuts[.systemSmall]?.applied(to: Rig.json(state).json).description == left)
    }

    @Test(arguments: [
        (#"{"systemSmal":["/name"]}"#, "/families/systemSmal"),
        (#"{}"#, "/families"), (#"[]"#, "/families"),
        (#"{"systemSmall":[]}"#, "/families/systemSmall"),
        (#"{"systemSmall":"/name"}"#, "/families/systemSmall"),
        (#"{"systemSmall":["/name","/nmae"]}"#, "/families/systemSmall/1"),
        (#"{"systemSmall":["name"]}"#, "/families/systemSmall/0"),
        (#"{"systemSmall":[7]}"#, "/families/systemSmall/0"),
        (#"{"systemSmall":[""]}"#, "/families/systemSmall/0"),
        (#"{"systemLarge":[{"path":"/list","length":0}]}"#, "/families/systemLarge/0/length"),
        (#"{"systemLarge":[{"path":"/list","length":257}]}"#, "/families/systemLarge/0/length"),
        (#"{"systemLarge":[{"length":3}]}"#, "/families/systemLarge/0/path"),
        (#"{"systemLarge":[{"path":"/list/who"}]}"#, "/families/systemLarge/0/path"),
        (#"{"systemLarge":[{"path":"/list","lenght":3}]}"#, "/families/systemLarge/0/lenght"),
    ])
    func `what no widget would get is refused, with its place`(cut: String, pointer: String) {
        let schema = #"{"properties":{"name":{},"list":{"items":{"properties":{"who":{}}}}}}"#
        let error = #expect(throws: FieldErrors.self) { try cuts(cut, state: schema) }
        #expect(error?.errors.map(\.pointer) == [pointer])
    }

    @Test func `the limits hold at their edges`() throws {
        func list(_ count: Int) -> String {
            let paths = (0..<count).map { "\"/m\($0)\"" }
            return #"{"systemSmall":[\#(paths.joined(separator: ","))]}"#
        }
        _ = try cuts(list(FamilyCut.partsMax))
        #expect(throws: FieldErrors.self) { try cuts(list(FamilyCut.partsMax + 1)) }
        _ = try cuts(#"{"systemLarge":[{"path":"/list","length":\#(FamilyCut.lengthMax)}]}"#)
    }

    @Test func `a pointer that is deeper than any state is refused`() throws {
        func deep(_ count: Int) -> String {
            #"{"systemSmall":["\#(String(repeating: "/a", count: count))"]}"#
        }
        _ = try cuts(deep(StateSchema.pointerPartsMax))
        for count in [StateSchema.pointerPartsMax + 1, 40_000] {
            #expect(throws: FieldErrors.self) { try cuts(deep(count)) }
        }
    }

    @Test func `content that is no state of the type is refused at its place`() {
        var rig = TimelineTests.rig()
        rig.type(#"{"state":{"required":["rank"]}}"#, named: "Door")
        rig.timeline(#"{"subject":{"user":"u42"},"type":"Door","content":{}}"#)
        #expect(rig.refusedPointers == ["/content/rank"])
        rig.timeline(
            #"{"subject":{"user":"u42"},"type":"Door","entries":[{"date":"2023-01-01T00:00:00Z","#
                + #""content":{"rank":1}},{"date":"2023-01-02T00:00:00Z","content":{}}]}"#)
        #expect(rig.refusedPointers == ["/entries/1/content/rank"])
        #expect(rig.timelines().isEmpty)
    }

    @Test func `what every cut leaves out reloads nothing, and changes no validator`() throws {
        var rig = rig()
        func put(_ rig: inout Rig, _ code: Int, _ name: String = "Main") {
            rig.timeline(
                #"{"subject":{"user":"u42"},"type":"Door","entries":[{"date":"#
                    + #""2023-01-01T00:00:00Z","content":{"door":{"name":"\#(name)"},"code":\#(code)}}]}"#
            )
        }
        put(&rig, 1)
        rig.advance(to: 3_000)
        let (line, version) = (ReloadTests.line(rig), rig.cutEntries(.systemSmall)?.version)
        put(&rig, 2)
        rig.advance(to: 6_000)
        #expect(ReloadTests.line(rig) == line)
        #expect(rig.cutEntries(.systemSmall)?.version == version)
        put(&rig, 2, "Side")
        rig.advance(to: 9_000)
        #expect(ReloadTests.line(rig) != line)
        #expect(rig.cutEntries(.systemSmall)?.version != version)
    }

    @Test func `a timeline that names a type answers cuts, and never more`() {
        var rig = rig()
        rig.timeline(#"{"subject":{"user":"u42"},"type":"Door","content":\#(Self.state)}"#)
        #expect(content(rig, .systemSmall) == #"{"locked":true,"door":{"name":"Main"}}"#)
        #expect(content(rig, nil)?.contains("code") == false)
        #expect(content(rig, nil)?.contains("Cy") == false)
        #expect(throws: Refusal.self) { try rig.readCut(.systemLarge) }
        #expect(rig.crash(recoverAt: 10) == [])
        #expect(content(rig, .systemSmall) == #"{"locked":true,"door":{"name":"Main"}}"#)
        rig.timeline(#"{"subject":{"user":"u42"},"content":\#(Self.state)}"#)
        #expect(content(rig, .systemLarge)?.contains("code") == true, "without a type all of it")
    }

    @Test func `what the cut leaves out does not change the validator`() throws {
        var rig = rig()
        func put(_ state: String) {
            rig.timeline(#"{"subject":{"user":"u42"},"type":"Door","content":\#(state)}"#)
        }
        put(Self.state)
        let first = try #require(rig.cutEntries(.systemSmall)?.version)
        #expect(rig.cutEntries(.systemMedium)?.version != first)
        put(Self.state.replacing("true", with: "false"))
        #expect(rig.cutEntries(.systemSmall)?.version != first)
        // Another cut is another answer, and the timeline is as it was.
        put(Self.state)
        rig.type(#"{"families":{"systemSmall":["/locked"]}}"#, named: "Door")
        #expect(rig.cutEntries(.systemSmall)?.version != first)
        #expect(content(rig, .systemSmall) == #"{"locked":true}"#)
    }

    @Test func `each entry has its own cut`() {
        var rig = rig()
        rig.timeline(
            #"{"subject":{"user":"u42"},"type":"Door","content":{"locked":true,"code":1},"#
                + #""entries":[{"date":"2200-01-01T00:00:00Z","content":{"locked":false,"code":2}}]}"#
        )
        #expect(
            rig.cutEntries(.systemSmall)?.entries.map { "\($0.content)" }
                == [#"{"locked":true}"#, #"{"locked":false}"#])
    }

    @Test func `an unknown type and a timeline that costs too much are refused`() {
        var rig = rig()
        rig.timeline(#"{"subject":{"user":"u42"},"type":"Dor","content":{}}"#)
        #expect(rig.timelines().isEmpty)
        func body(_ bytes: Int) -> String {
            let frame = #"{"subject":{"user":"u42"},"type":"Door","content":{"code":""}}"#
            let text = String(repeating: "x", count: bytes - frame.utf8.count)
            return frame.replacing(#""code":"""#, with: "\"code\":\"\(text)\"")
        }
        rig.timeline(body(Timeline.cutBytesMax + 1))
        #expect(rig.timelines().isEmpty)
        rig.timeline(body(Timeline.cutBytesMax))
        #expect(rig.timelines().count == 1)
    }

    @Test(arguments: [
        (#"{"systemSmall":["/a"]}"#, #""links":["app://a"]"#, "/links"),
        (#"{"systemSmall":["/a"],"systemMedium":["/a"]}"#, #""links":["app://a"]"#, nil),
        (#"{"systemSmall":["/a"]}"#, #""url":"app://a""#, nil),
    ])
    func `links that no family shows are told`(families: String, member: String, pointer: String?)
        throws
    {
        let rig = rig(families)
        let request = try TimelineRequest(
            reading: Rig.json(
                #"{"subject":{"user":"u42"},"type":"Door","content":{"a":1},\#(member)}"#))
        let stored = try rig.core.dryRunTimeline(
            .put(request, kind: Identifier("profile")!), of: Rig.tenant)
        #expect(stored.lint.map(\.pointer) == (pointer.map { [$0] } ?? []))
        #expect(stored.lint.allSatisfy { $0.code == .linksInSmallFamilies })
    }
}

extension Rig {
    fileprivate func readCut(_ family: WidgetFamily?) throws -> TimelineEntries {
        try core.entries(
            Identifier("profile")!, app: nil, .user("u42"), family: family, by: .anybody,
            of: Rig.tenant, now: now)
    }

    fileprivate func cutEntries(_ family: WidgetFamily?) -> TimelineEntries? {
        try? readCut(family)  // a test reads what it has put
    }
}
