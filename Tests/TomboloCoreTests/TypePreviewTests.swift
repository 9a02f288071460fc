import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// What of a state is drawn (`preview` of a type).
@Suite struct TypePreviewTests {
    @Test func `every member is read`() throws {
        let type = try ActivityType(
            reading: Rig.json(
                #"{"preview":{"title":"/a","subtitle":"/b","unit":"min","image":"/c","progress":"/d","#
                    + #""timer":"/e","tint":"/f","#
                    + #""radial":{"angle":"/g","items":5,"dash":4.5,"moves":"places"},"#
                    + #""window":{"corner":"/h"}}}"#))
        let preview = try #require(type.preview)
        #expect(
            [
                preview.title, preview.subtitle, preview.image, preview.progress, preview.timer,
                preview.tint, preview.radial?.angle, preview.windowCorner,
            ].map { "\($0!)" } == ["/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"])
        #expect(preview.unit == "min")
        #expect(preview.radial?.items == 5)
        #expect(preview.radial?.dash == 4.5)
        #expect(preview.radial?.moves == .places)
    }

    @Test(arguments: [(1, true), (16, true), (0, false), (17, false)])
    func `a unit has 1 to 16 bytes`(_ bytes: Int, _ isTaken: Bool) throws {
        let unit = String(repeating: "m", count: bytes)
        let type = try? ActivityType(  // nil is what is looked at
            reading: Rig.json(#"{"preview":{"unit":"\#(unit)"}}"#))
        #expect(type?.preview?.unit == (isTaken ? unit : nil))
    }

    @Test func `an icon follows a flag, and items may be texts`() throws {
        let type = try ActivityType(
            reading: Rig.json(
                #"{"preview":{"icon":{"at":"/a","true":"lock","false":"lock.open"},"#
                    + #""radial":{"angle":"/g","items":["🦊","🐻"]}}}"#))
        let symbols = [#"{"a":true}"#, #"{"a":false}"#, #"{"a":1}"#].map {
            type.preview?.icon?.symbol(of: Rig.json($0))
        }
        #expect(symbols == [.lock, .lockOpen, nil])
        #expect(type.preview?.radial?.items == 2)
    }

    @Test(arguments: [
        (#"[{"title":"A"}]"#, "/intents/0/name"), (#"["a",{"name":""}]"#, "/intents/1/name"),
        (#"[{"name":"a","parameters":{"p":"/b"}}]"#, "/intents/0/parameters/p"),
        (#"[{"name":"a","nam":1}]"#, "/intents/0/nam"), (#"[1]"#, "/intents"),
        (#"[{"name":"a","title":1}]"#, "/intents/0/title"),
    ])
    func `an intent that a button cannot have is refused`(intents: String, pointer: String) {
        let body = #"{"state":{"properties":{"a":{}}},"intents":\#(intents)}"#
        let faults = #expect(throws: FieldErrors.self) {
            try ActivityType(reading: Rig.json(body))
        }
        #expect(faults?.errors.map(\.pointer) == [pointer])
    }

    @Test func `a member that is left out has its default`() throws {
        let type = try ActivityType(reading: Rig.json(#"{"preview":{"radial":{"angle":"/g"}}}"#))
        #expect(type.preview?.radial?.items == 3)
        #expect(type.preview?.radial?.moves == .steps)
        #expect(try ActivityType(reading: Rig.json("{}")).preview == nil)
    }

    @Test(arguments: [
        (#"{"title":"a"}"#, "/preview/title"), (#"{"title":""}"#, "/preview/title"),
        (#"{"tittle":"/a"}"#, "/preview/tittle"), (#"{"radial":{}}"#, "/preview/radial/angle"),
        (#"{"radial":{"angle":"/a","items":0}}"#, "/preview/radial/items"),
        (#"{"radial":{"angle":"/a","items":13}}"#, "/preview/radial/items"),
        (#"{"radial":{"angle":"/a","dash":0}}"#, "/preview/radial/dash"),
        (#"{"radial":{"angle":"/a","moves":"fast"}}"#, "/preview/radial/moves"),
        (#"{"window":{"corner":8}}"#, "/preview/window/corner"),
        (#"{"image":"/b"}"#, "/preview/image"), (#"{"icon":"key"}"#, "/preview/icon"),
        (#"{"icon":{"at":"/b","true":"lock","false":"box"}}"#, "/preview/icon/at"),
        (#"{"icon":{"at":"/a","true":"lock"}}"#, "/preview/icon/false"),
        (#"{"radial":{"angle":"/a","items":[]}}"#, "/preview/radial/items"),
        (#"{"radial":{"angle":"/a","items":["🦊",1]}}"#, "/preview/radial/items"),
    ])
    func `a value that cannot be drawn is refused with its place`(preview: String, pointer: String)
    {
        let body = #"{"state":{"properties":{"a":{}}},"preview":\#(preview)}"#
        #expect(Rig.faults { try ActivityType(reading: Rig.json(body)) } == [pointer])
        // A record of an older relay, which took any object, is read all the same.
        #expect(throws: Never.self) { try ActivityType(reading: Rig.json(body), lenient: true) }
    }
}
