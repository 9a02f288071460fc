import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// What of a state is drawn (`preview` of a type).
@Suite struct TypePreviewTests {
    @Test func `every member is read`() throws {
        let type = try ActivityType(
            reading: Rig.json(
                #"{"preview":{"title":"/a","subtitle":"/b","image":"/c","progress":"/d","#
                    + #""timer":"/e","tint":"/f","#
                    + #""radial":{"angle":"/g","items":5,"dash":4.5,"moves":"places"},"#
                    + #""window":{"corner":"/h"}}}"#))
        let preview = try #require(type.preview)
        #expect(
            [
                preview.title, preview.subtitle, preview.image, preview.progress, preview.timer,
                preview.tint, preview.radial?.angle, preview.windowCorner,
            ].map { "\($0!)" } == ["/a", "/b", "/c", "/d", "/e", "/f", "/g", "/h"])
        #expect(preview.radial?.items == 5)
        #expect(preview.radial?.dash == 4.5)
        #expect(preview.radial?.moves == .places)
    }

    @Test func `what is left out has its default`() throws {
        let type = try ActivityType(
            reading: Rig.json(#"{"preview":{"radial":{"angle":"/g"}}}"#))
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
        (#"{"image":"/b"}"#, "/preview/image"),
    ])
    func `what cannot be drawn is refused, with its place`(preview: String, pointer: String) {
        let body = #"{"state":{"properties":{"a":{}}},"preview":\#(preview)}"#
        do {
            _ = try ActivityType(reading: Rig.json(body))
            Issue.record("\(preview) is taken")
        } catch {
            #expect(error.errors.map(\.pointer) == [pointer])
        }
        // A record of an older relay, which took any object, is read all the same.
        #expect(throws: Never.self) { try ActivityType(reading: Rig.json(body), lenient: true) }
    }
}
