import Testing
import TomboloJSON

@testable import tombolo

/// What the islands of `dev` draw for each scenario.
@Suite struct IslandPictureTests {
    private static func picture(_ state: String) throws -> Bitmap? {
        IslandPicture.of(try JSONDocument(Array(state.utf8)).root)
    }

    @Test func `avatars turn, and a whole turn is the same picture`() throws {
        let still = try #require(try Self.picture(#"{"offset":0}"#))
        #expect(still.braille.count == 8)
        #expect(try Self.picture(#"{"offset":40}"#) != still)
        #expect(try Self.picture(#"{"offset":360}"#) == still)
        // The first stands at the bottom, in the middle: a ring.
        #expect(!still[24, 27])
        #expect(still[24, 30])
    }

    @Test func `a window's corners are round or square`() throws {
        let square = try #require(try Self.picture(#"{"radius":0}"#))
        let round = try #require(try Self.picture(#"{"radius":8}"#))
        let corner = (x: 4, y: 3)
        #expect(square[corner.x, corner.y])
        #expect(!round[corner.x, corner.y])
        #expect(square[24, 3])
        #expect(round[24, 3])
    }

    @Test func `a state of no scenario draws nothing`() throws {
        #expect(try Self.picture(#"{"lap":1}"#) == nil)
        #expect(try Self.picture(#"{"image":"no PNG"}"#) == nil)
    }
}
