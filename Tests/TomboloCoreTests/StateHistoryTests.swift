import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// A state that keeps a history (`history` of a type): newest first, bounded, and the same from the
/// log alone.
@Suite struct StateHistoryTests {
    private static let type =
        #"{"history":{"path":"/history","length":3,"of":"/event","at":"/at"}}"#

    private func rig(_ type: String = Self.type, state: String = #"{"locked":true}"#) -> Rig {
        var rig = Rig()
        rig.type(type, named: "Door")
        rig.command(
            .start, #"{"type":"Door","state":\#(state),"audience":{"device":"phone"}}"#, id: "d")
        return rig
    }

    private func state(_ rig: borrowing Rig) -> JSON? {
        let slot = rig.core.activities.slot(
            of: ActivityKey(tenant: Rig.tenant, id: Identifier("d")!))
        return slot.flatMap { rig.core.activities[$0].durable?.state }
    }

    /// Who is in the lines, newest first.
    private func names(_ rig: borrowing Rig) -> String? {
        state(rig)?.document.root["history"]?.elements.map { line in
            line["who"]?.string ?? line.json.description
        }.joined(separator: " ")
    }

    private func enter(_ rig: inout Rig, _ who: String) {
        rig.command(.update, #"{"state":{"event":{"who":"\#(who)"}}}"#, id: "d")
    }

    private func expectSameFromLog(_ rig: borrowing Rig) throws {
        var fold = ActivityFold()
        for event in rig.history { #expect(fold.apply(event) == nil) }
        let (head, version, _) = try #require(rig.heads.values.first)
        #expect(fold.difference(fromHead: head.value, version: version) == nil)
    }

    @Test func `each event that says something of it brings a line, the newest first`() throws {
        var rig = rig()
        #expect(state(rig)?.description == #"{"locked":true,"history":[]}"#)
        enter(&rig, "Ada")
        rig.advance(to: 60)
        enter(&rig, "Bob")
        #expect(
            state(rig)?.document.root["history"]?.json.description
                == #"[{"who":"Bob","at":"2023-11-14T22:14:20.000Z"},"#
                + #"{"who":"Ada","at":"2023-11-14T22:13:20.000Z"}]"#)
        rig.command(.update, #"{"state":{"locked":false}}"#, id: "d")
        #expect(names(rig) == "Bob Ada")
        // The same once more is one more; a part of it is the whole, as it is then.
        enter(&rig, "Bob")
        rig.command(.update, #"{"state":{"event":{"what":"in"}}}"#, id: "d")
        #expect(names(rig) == "Bob Bob Bob", "three at most")
        #expect(
            state(rig)?.document.root["history"]?.elements.first { _ in true }?["what"]?.string
                == "in")
        // What takes it away is no line.
        rig.command(.update, #"{"state":{"event":null}}"#, id: "d")
        #expect(names(rig) == "Bob Bob Bob")
        try expectSameFromLog(rig)
        let before = state(rig)
        #expect(rig.crash(recoverAt: 100) == [])
        #expect(state(rig) == before)
    }

    @Test func `the event's time replaces a line's own time`() {
        var rig = rig()
        rig.command(.update, #"{"state":{"event":{"who":"Ada","at":"noon"}}}"#, id: "d")
        #expect(
            state(rig)?.document.root["history"]?.json.description
                == #"[{"who":"Ada","at":"2023-11-14T22:13:20.000Z"}]"#)
        rig.command(.update, #"{"state":{"event":"rang"}}"#, id: "d")
        #expect(names(rig) == #""rang" Ada"#)
    }

    @Test func `a replaced state keeps the lines, and a new start clears them`() throws {
        var rig = rig(state: #"{"event":{"who":"Ada"}}"#)
        #expect(names(rig) == "Ada")
        rig.command(.update, #"{"replace":{"event":{"who":"Bob"}}}"#, id: "d")
        #expect(names(rig) == "Bob Ada")
        rig.command(.update, #"{"replace":{"locked":true}}"#, id: "d")
        #expect(names(rig) == "Bob Ada")
        rig.command(.end, #"{"state":{"event":{"who":"Cy"}}}"#, id: "d")
        #expect(names(rig) == "Cy Bob Ada")
        try expectSameFromLog(rig)
        rig.command(
            .start, #"{"type":"Door","state":{},"audience":{"device":"phone"}}"#, id: "d"
        ) { $0.restart = true }
        #expect(names(rig) == "")
        try expectSameFromLog(rig)
    }

    @Test func `a later change of a type does not change the past`() throws {
        var rig = rig()
        for name in ["Ada", "Bob", "Cy"] { enter(&rig, name) }
        rig.type(#"{"history":{"path":"/history","length":1,"of":"/event"}}"#, named: "Door")
        #expect(names(rig) == "Cy Bob Ada")
        enter(&rig, "Dee")
        #expect(names(rig) == "Dee")
        rig.type("{}", named: "Door")
        enter(&rig, "Eve")
        #expect(names(rig) == "Dee", "it keeps none any more")
        try expectSameFromLog(rig)
    }

    @Test func `an old state version and a repeated key add no line`() {
        var rig = rig()
        rig.command(.update, #"{"state":{"event":{"who":"Ada"}},"state_version":5}"#, id: "d")
        rig.command(.update, #"{"state":{"event":{"who":"Bob"}},"state_version":4}"#, id: "d")
        #expect(names(rig) == "Ada")
        for _ in 0..<2 {
            rig.command(.update, #"{"state":{"event":{"who":"Cy"}}}"#, id: "d") {
                $0.idempotency = IdempotencyKey(key: "once", bodyDigest: 7)
            }
        }
        #expect(names(rig) == "Cy Ada")
    }

    @Test(arguments: [
        #"{"state":{"history":[]}}"#, #"{"replace":{"history":[{"who":"Eve"}]}}"#,
    ])
    func `only the relay writes the list`(body: String) {
        var rig = rig()
        rig.command(.update, body, id: "d")
        #expect(rig.refusedPointers.map { $0.hasSuffix("/history") } == [true])
        #expect(names(rig) == "")
        #expect(throws: FieldErrors.self) {
            try Command.Content(
                kind: .update,
                Rig.json(#"{"state":{},"history":{"path":"/a","of":"/b","length":1}}"#))
        }
    }

    @Test(
        arguments: [
            (#"{"path":"/h","of":"/e","length":256}"#, nil),
            (#"{"path":"/h","of":"/e","length":257}"#, "/history/length"),
            (#"{"path":"/h","of":"/e","length":0}"#, "/history/length"),
            (#"{"path":"/h"}"#, "/history/of"), (#"{"of":"/e"}"#, "/history/path"),
            (#"{"path":"/h","of":"/h"}"#, "/history/of"),
            (#"{"path":"/h","of":"/h/e"}"#, "/history/of"),
            (#"{"path":"/h/i","of":"/e"}"#, "/history/path"),
            (#"{"path":"/h","of":"/e","at":"at"}"#, "/history/at"),
            (#"{"path":"/h","of":"/e","at":"/a/b"}"#, "/history/at"),
            (#"{"path":"/h","of":"/e","att":"/a"}"#, "/history/att"),
            (#"{"path":"/n","of":"/e"}"#, "/history/path"),
            (#"{"path":"/p","of":"/e"}"#, "/history"), (#"{"path":"/h","of":"/p"}"#, "/history"),
            (#"{"path":"/h","of":"/p/q"}"#, "/history"),
            ("20", "/history"),
        ] as [(String, String?)])
    func `an invalid history is refused with its place`(rule: String, pointer: String?) {
        let presence = #"{"path":"/p","active":8,"inactive":0,"duration":"350ms"}"#
        let state =
            #"{"type":"object","properties":{"n":{"type":"string"},"h":{"type":"array"},"#
            + #""e":{},"p":{"properties":{"q":{}}}}}"#
        let body = #"{"history":\#(rule),"presence":\#(presence),"state":\#(state)}"#
        do {
            let type = try ActivityType(reading: Rig.json(body))
            #expect(pointer == nil)
            #expect(type.history?.length == 256)
        } catch {
            #expect(error.errors.map(\.pointer) == [pointer])
        }
        // A record of an older relay, which took any number, is read all the same.
        #expect(throws: Never.self) { try ActivityType(reading: Rig.json(body), lenient: true) }
    }

    @Test func `the lines count for size`() {
        var rig = rig(#"{"history":{"path":"/history","length":256,"of":"/event"}}"#)
        let long = String(repeating: "x", count: 1_000)
        for _ in 0..<5 { enter(&rig, long) }
        #expect((1...3).contains(state(rig)?.document.root["history"]?.count ?? 0))
        #expect(rig.lastRefusal == .payloadTooLarge)
        let detail =
            if case .refused(let refusal)? = rig.answers.last { refusal.detail } else { "" }
        #expect(detail.contains("3 lines of 256"), "\(detail)")
    }
}
