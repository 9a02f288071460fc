import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

extension Rig {
    /// Registers a type of the app there is.
    mutating func type(_ body: String, named name: String = "Runner") {
        do {
            let type = try ActivityType(reading: Self.json(body))
            step(.type(type, name: name, app: nil, Rig.tenant, Ticket(9_000)))
        } catch {
            Issue.record("\(body): \(error)")
        }
    }

    var refusedPointers: [String] { lastRefused?.errors.map(\.pointer) ?? [] }
}

private let runner = """
    {"state":{"type":"object","properties":{"lap":{"type":"integer","minimum":0},
    "name":{"type":["string","null"],"maxLength":3},"at":{"type":"string","format":"date-time"},
    "laps":{"type":"array","items":{"type":"string","enum":["a","b"]},"maxItems":2}},
    "required":["lap"],"additionalProperties":false}}
    """

@Suite struct StateSchemaTests {
    private func faults(_ state: String) throws -> [String] {
        try ActivityType(reading: Rig.json(runner)).faults(
            in: JSON(unchecked: Array(state.utf8)), at: ""
        ).map(\.pointer)
    }

    @Test(arguments: [
        (#"{"lap":0}"#, []), (#"{"lap":1,"name":null,"laps":["a","b"]}"#, []),
        (#"{"lap":1,"at":"2026-11-20T09:03:00Z"}"#, []), (#"{}"#, ["/lap"]),
        (#"{"lap":"1"}"#, ["/lap"]), (#"{"lap":1.5}"#, ["/lap"]), (#"{"lap":-1}"#, ["/lap"]),
        (#"{"lap":1,"name":"Mike"}"#, ["/name"]), (#"{"lap":1,"at":"today"}"#, ["/at"]),
        (#"{"lap":1,"laps":["a","c"]}"#, ["/laps/1"]),
        (#"{"lap":1,"laps":["a","a","a"]}"#, ["/laps"]), (#"{"lap":1,"pal":1}"#, ["/pal"]),
        (#"{"pal":1,"at":2}"#, ["/lap", "/pal", "/at"]), ("[]", [""]),
    ])
    func `a state is checked member by member`(state: String, pointers: [String]) throws {
        #expect(try faults(state) == pointers)
    }

    @Test(arguments: [
        (#"{"type":"objekt"}"#, "/state/type"), (#"{"oneOf":[]}"#, "/state/oneOf"),
        (#"{"properties":{"a":{"minLenght":1}}}"#, "/state/properties/a/minLenght"),
        (#"{"required":"a"}"#, "/state/required"), (#"{"enum":[]}"#, "/state/enum"),
        (#"{"items":{"maximum":"a"}}"#, "/state/items/maximum"),
    ])
    func `a keyword outside the subset is refused with its place`(schema: String, pointer: String) {
        #expect {
            try ActivityType(reading: Rig.json(#"{"state":\#(schema)}"#))
        } throws: { ($0 as? FieldErrors)?.errors.map(\.pointer) == [pointer] }
    }

    @Test(arguments: [
        ("swift-reference", "721692800"), ("unix", "1700000000"),
        ("iso8601", #""2023-11-14T22:13:20Z""#),
    ])
    func `a date is written as the app decodes it`(dates: String, value: String) throws {
        let type = try ActivityType(
            reading: Rig.json(String(runner.dropLast()) + #","dates":"\#(dates)"}"#))
        let state = JSON(
            unchecked: Array(#"{ "lap":1.0,"at":"2023-11-14T22:13:20Z","b":"é"}"#.utf8))
        let written = type.encoded(state).document.root
        #expect(written["at"].map { String(decoding: $0.raw, as: UTF8.self) } == value)
        #expect(written["lap"].map { String(decoding: $0.raw, as: UTF8.self) } == "1.0")
        #expect(written["b"]?.string == "é")
    }

    @Test func `half a second is kept`() throws {
        let type = try ActivityType(reading: Rig.json(runner))
        let state = JSON(unchecked: Array(#"{"lap":1,"at":"2023-11-14T22:13:20.5Z"}"#.utf8))
        #expect(type.encoded(state).description == #"{"lap":1,"at":721692800.5}"#)
    }
}

@Suite struct TypeTests {
    @Test func `it is the merged state that is checked`() {
        var rig = Rig()
        rig.type(runner)
        rig.runningActivity()
        rig.advance(to: 30)
        let before = rig.pushes.count
        rig.command(.update, #"{"state":{"lap":null}}"#)
        #expect(rig.lastRefusal == .stateInvalid)
        #expect(rig.refusedPointers == ["/state/lap"])
        rig.command(.update, #"{"state":{"name":"Mo"}}"#)
        #expect(rig.lastAccepted?.version == 2)
        #expect(rig.pushes.count == before + 1)
    }

    @Test func `a clip is checked frame by frame`() {
        var rig = Rig()
        rig.type(runner)
        rig.runningActivity()
        rig.command(
            .play, #"{"flipbook":{"path":"/lap","frames":[1,"x",3],"every":"1s","loop":1}}"#)
        #expect(rig.refusedPointers == ["/flipbook/frames/1"])
    }

    @Test func `the phone gets dates encoded, readers see what was sent`() throws {
        var rig = Rig()
        rig.type(runner)
        rig.runningActivity()
        rig.command(.update, #"{"state":{"at":"2023-11-14T22:13:20Z"}}"#)
        rig.advance(to: 60)
        let state = try #require(rig.pushes.last.map { Rig.state($0.push) })
        #expect(state == #"{"lap":0,"at":721692800}"#)
        #expect(rig.view()?.state.description == #"{"lap":0,"at":"2023-11-14T22:13:20Z"}"#)
    }

    @Test func `a type gives the place of the id, and the class of devices without one`() {
        var rig = Rig()
        rig.type(#"{"id_at":"/relay","budget_class":"frequent"}"#)
        let registration = try? DeviceRegistration(  // a test's own text
            reading: Rig.json(#"{"frequent_updates":true}"#))
        registration.map { rig.tell(.register($0)) }
        rig.token("start:Runner", "aa")
        rig.command(.start, #"{"type":"Runner","audience":{"device":"phone"},"state":{}}"#)
        #expect(
            rig.pushes.last.flatMap { Rig.aps($0.push)?["attributes"]?["relay"]?.string } == "cat")
        #expect(rig.view()?.destinations.first?.grant.budgetClass == .frequent)
    }

    @Test func `an id that has no place is refused`() {
        var rig = Rig()
        rig.type(#"{"id_at":"/a/b"}"#)
        rig.command(.start, #"{"type":"Runner","state":{}}"#)
        #expect(rig.lastRefusal == .invalidField)
    }

    @Test func `types survive a crash, and newly required fields get a lint`() {
        var rig = Rig()
        rig.type(runner)
        #expect(rig.lastStored?.kind == .created)
        #expect(rig.crash(recoverAt: 5).isEmpty)
        rig.command(.start, #"{"type":"Runner","state":{"lap":-1}}"#)
        #expect(rig.lastRefusal == .stateInvalid)
        rig.type(runner.replacing(#"["lap"]"#, with: #"["lap","at"]"#))
        #expect(rig.lastStored?.kind == .updated)
        #expect(rig.lastStored?.lint.map(\.code) == [.newRequiredField])
    }

    @Test func `a card can be ended after its type has become stricter`() {
        var rig = Rig.running()
        rig.type(#"{"state":{"properties":{"eta":{"type":"integer"}},"required":["eta"]}}"#)
        rig.update(lap: 1)
        #expect(rig.lastRefusal == .stateInvalid)
        rig.command(.end, #"{"state":{"lap":1}}"#)
        #expect(rig.lastRefusal == .stateInvalid, "a state of its own is checked")
        rig.command(.end, #"{"dismiss":"now"}"#)
        rig.advance(to: 20)
        #expect(rig.pushes.last?.push.event == .end)
    }
}
