import Glibc
import Testing
import TomboloCrypto

@testable import tombolo

/// The five frames: those in the program are those in `Protocol/examples/runner/`, small, and pictures.
@Suite struct RunnerCatTests {
    private static func file(_ index: Int) throws -> [UInt8] {
        let tests = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let descriptor = open("/\(tests)/Protocol/examples/runner/frame-\(index).png", O_RDONLY)
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { throw TestFailure("no frame \(index)") }
        return Array(bytes[..<count])
    }

    @Test(arguments: 0..<5)
    func `a frame in the program is the frame in the protocol`(_ index: Int) throws {
        #expect(Base64.encode(try Self.file(index)) == RunnerCat.frames[index])
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

    @Test func `a picture with any byte changed is refused or another picture, and never a crash`() throws {
        let bytes = try Self.file(0)
        let picture = try #require(Bitmap(png: bytes))
        // The header's tail and the chunks' own checksums are not looked at; zlib's checksum is.
        for index in 41..<(bytes.count - 20) {
            var damaged = bytes
            damaged[index] ^= 0x10
            #expect(Bitmap(png: damaged) != picture, "byte \(index)")
        }
        for count in 0..<bytes.count { _ = Bitmap(png: Array(bytes[..<count])) }
    }
}
