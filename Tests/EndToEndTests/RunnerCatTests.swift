import Testing
import TomboloCrypto
import TomboloJSON

@testable import TomboloProgram

/// The five frames: those in the program are those in `Protocol/examples/runner/`, small, and
/// pictures.
@Suite struct RunnerCatTests {
    /// `Protocol/examples`.
    static var examples: String {
        "/\(#filePath.split(separator: "/").dropLast(3).joined(separator: "/"))/Protocol/examples"
    }

    private static func file(_ index: Int) throws -> [UInt8] {
        try FileBytes.read("\(examples)/runner/frame-\(index).png")
    }

    @Test(arguments: 0..<5)
    func `a frame in the program is the frame in the protocol`(_ index: Int) throws {
        #expect(Base64.encode(try Self.file(index)) == RunnerCat.frames[index])
    }

    @Test func `the steps show these frames and no other`() throws {
        let steps = try JSONDocument(FileBytes.read("\(Self.examples)/runner/steps.json")).root
        let shown = (steps["steps"]?.elements.map { $0 } ?? []).compactMap {
            $0["shows"]?["image"]?.string
        }
        #expect(shown.count == 8)
        #expect(shown.allSatisfy(RunnerCat.frames.contains))
    }

    @Test func `all five fit one payload`() {
        #expect(RunnerCat.frames.count == 5)
        #expect(RunnerCat.frames.map(\.utf8.count).reduce(0, +) <= 1_200)
    }

    @Test(arguments: 0..<5)
    func `a frame reads as a picture of 48 by 32 pixels with a cat in it`(_ index: Int) throws {
        let picture = try #require(Bitmap(png: try Self.file(index)))
        #expect(picture.width == 48)
        #expect(picture.height == 32)
        var lit = 0
        for y in 0..<32 { for x in 0..<48 where picture[x, y] { lit += 1 } }
        #expect((300...700).contains(lit))
        #expect(picture.braille.count == 8)
        #expect(picture.braille.allSatisfy { $0.count == 24 })
    }

    @Test func `the cat moves`() throws {
        #expect(Set(RunnerCat.frames).count == 5)
    }

    @Test func `a damaged picture is refused`() throws {
        let bytes = try Self.file(0)
        #expect(Bitmap(png: bytes) != nil)
        for index in 0..<16 {
            var damaged = bytes
            damaged[index] ^= 0x10
            #expect(Bitmap(png: damaged) == nil, "byte \(index)")
        }
        // The last chunk says only that it is the last.
        for count in 0..<(bytes.count - 16) {
            #expect(Bitmap(png: Array(bytes[..<count])) == nil, "\(count) bytes")
        }
    }
}
