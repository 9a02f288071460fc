import Testing
import TomboloJSON

@testable import TomboloProgram

/// The pictures that the islands of `dev` draw.
@Suite struct IslandPictureTests {
    private static func turn(_ degrees: Double, of items: Int = 3) -> Bitmap {
        IslandPicture.radial(IslandTurn(degrees: degrees, of: items).places)
    }

    @Test func `avatars turn, and a whole turn is the same picture`() {
        let still = Self.turn(0)
        #expect(still.braille.count == 8)
        #expect(Self.turn(40) != still)
        #expect(Self.turn(360) == still)
        #expect(Self.turn(0, of: 5) != still)
        // The first is at the bottom, in the middle: a ring.
        #expect(!still[24, 27])
        #expect(still[24, 30])
    }

    @Test func `a window's corners are round or square`() {
        let square = IslandPicture.window(radius: 0)
        let round = IslandPicture.window(radius: 8)
        let corner = (x: 4, y: 3)
        #expect(square[corner.x, corner.y])
        #expect(!round[corner.x, corner.y])
        #expect(square[24, 3])
        #expect(round[24, 3])
    }
}
