import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// One value in two spellings is one value; a value that only looks alike is another one.
@Suite struct SpellingTests {
    private static let state = #"{"n":{"a":1,"b":[2.50,"Größe"]},"m":0}"#
    private static let respelled =
        #"{ "m" : -0.0, "n": {"b": [25e-1, "Gr\u00f6\u00DFe"], "a": 1.0} }"#

    /// Allowed values, a state that is one of them, and one that is not.
    static let allowed: [(String, String, String)] = [
        ("0", "-0.0", "1e-300"), ("1", "1.0", "1.0000000000000000000001"), ("1.0", "1e0", "true"),
        ("9007199254740993", "9007199254740993.0", "9007199254740992"),
        (#""Gr\u00f6\u00dfe""#, #""Größe""#, #""Gro\u0308\u00dfe""#),
        (#""a\u0000b\/""#, #""a\u0000b/""#, #""ab/""#),
        (
            #"{"a":[1,{"b":"\u00fc"}],"c":2}"#, #"{"c":2.0,"a":[1.0,{"b":"ü"}]}"#,
            #"{"a":[1],"c":2}"#
        ),
        (#"[1,[2,{"x":0}]]"#, #"[ 1.0, [2, {"x": -0}] ]"#, #"[[2,{"x":0}],1]"#),
        ("false", " false", "0"),
    ]

    @Test(arguments: allowed, ["enum", "const"])
    func `a schema compares values`(
        values: (one: String, same: String, other: String), keyword: String
    ) throws {
        let list = keyword == "enum" ? #"["x",\#(values.one)]"# : values.one
        let schema = try StateSchema(reading: Rig.json(#"{"\#(keyword)":\#(list)}"#), at: "")
        func faults(_ text: String) throws -> [String] {
            let value = try JSON(validating: Array(text.utf8))
            return schema.faults(in: value.document.root, at: "").map(\.message)
        }
        #expect(try faults(values.one).isEmpty)
        #expect(try faults(values.same).isEmpty)
        #expect(try !faults(values.other).isEmpty)
    }

    @Test func `one value twice in an enum is refused, in any spelling`() {
        #expect(throws: FieldErrors.self) {
            try StateSchema(reading: Rig.json(#"{"enum":[1,"a",1.0]}"#), at: "")
        }
    }

    private static func rig(_ type: String? = nil) -> Rig {
        var rig = Rig()
        if let type { rig.type(type) }
        rig.runningActivity()
        rig.advance(to: 60)
        rig.command(.update, #"{"replace":\#(state)}"#)
        rig.advance(to: 120)
        return rig
    }

    @Test(arguments: ["replace", "state"])
    func `a state in another spelling is skipped, and a change after it goes at once`(
        member: String
    ) {
        var rig = Self.rig()
        let before = rig.pushes.count
        rig.command(.update, #"{"\#(member)":\#(Self.respelled)}"#)
        #expect(rig.lastAccepted?.decision == .skipped(.unchanged))
        #expect(rig.pushes.count == before)
        rig.command(.update, #"{"state":{"m":1}}"#)
        #expect(rig.lastAccepted?.destinations.sending == 1)
        #expect(rig.pushes.count == before + 1)
    }

    @Test func `a significant value in another spelling does not show`() {
        var rig = Self.rig(#"{"significant":["/n"]}"#)
        let before = rig.pushes.count
        rig.command(.update, #"{"replace":{"m":7,"n":{"b":[2.5,"Gr\u00f6ße"],"a":1e0}}}"#)
        #expect(rig.lastAccepted?.decision == .skipped(.notVisible))
        #expect(rig.pushes.count == before)
    }

    @Test func `a phone that reports the state in its own spelling has it`() throws {
        var rig = Self.rig()
        let word =
            #"{"phase":"active","received_state":\#(Self.respelled),"drawn_state":\#(Self.state)}"#
        rig.report("cat", word)
        let view = try #require(rig.view()?.destinations.first)
        #expect(view.shownMatches == true)
        let report = try #require(view.shown)
        #expect(report.matchedVersion == 2 && report.matchedPicture == 2)
        #expect(report.frozenSince == nil)
    }

    @Test func `a start that says the same is no other start, and neither is one of an older head`()
    {
        var rig = Rig()
        let start = #"{"type":"Runner","attributes":{"a":1,"b":"ü"},"state":{"n":1}}"#
        let other = #"{"type":"Runner","attributes":{"b":"\u00fc","a":1.0},"state":{"n":10e-1}}"#
        rig.command(.start, start)
        rig.command(.start, other)
        #expect(rig.lastAccepted?.changed == false)
        rig.command(.start, #"{"type":"Runner","attributes":{"a":1},"state":{"n":1}}"#)
        #expect(rig.lastRefusal == .activityRunning)
        // An older relay wrote a digest over the bytes as they were sent.
        guard case .start(let sent)? = try? Command.Content(kind: .start, Rig.json(other)) else {
            Issue.record("\(other)")
            return
        }
        let key = ActivityKey(tenant: Rig.tenant, id: Identifier("cat")!)
        guard let slot = rig.core.activities.slot(of: key) else {
            Issue.record("it is there")
            return
        }
        rig.core.activities[slot].definition.digest = sent.digestOfBytes
        rig.command(.start, start)
        #expect(rig.lastRefusal == .activityRunning)
        rig.command(.start, other)
        #expect(rig.lastAccepted?.changed == false)
    }

    @Test func `a start keeps the digest of its bytes as they were sent`() throws {
        let text = #"{"type": "Runner", "state": {"n": "\u00fc"}}"#
        let sent = try JSONDocument(Array(text.utf8))
        let (content, body) = try Command.Content.reading(.start, sent)
        #expect(String(decoding: body, as: UTF8.self) == #"{"type":"Runner","state":{"n":"ü"}}"#)
        guard case .start(let asSent) = try Command.Content(kind: .start, sent.root),
            case .start(let start) = content
        else {
            Issue.record("both are starts")
            return
        }
        #expect(start.digestAsSent == asSent.digestOfBytes)
        #expect(start.digestOfBytes != asSent.digestOfBytes)
        #expect(start.digest == asSent.digest)
    }

    @Test func `widgets see no other value in another spelling`() throws {
        let cuts = FamilyCuts([.systemSmall: [.init(path: JSONPointer(tokens: ["n"]))]])
        let (one, other) = (
            try JSON(validating: Array(Self.state.utf8)),
            try JSON(validating: Array(Self.respelled.utf8))
        )
        #expect(!cuts.differ(one, other))
        #expect(cuts.differ(one, try JSON(validating: Array(#"{"n":{"a":2}}"#.utf8))))
        func seen(_ content: String) throws -> UInt64 {
            try TimelineRequest(
                reading: Rig.json(#"{"subject":{"user":"u"},"content":\#(content)}"#)
            ).timeline.visibleHash
        }
        #expect(try seen(Self.state) == seen(Self.respelled))
        #expect(try seen(Self.state) != seen(#"{"n":{"a":2}}"#))
    }
}
