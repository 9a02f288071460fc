import Glibc
import Testing
import TomboloCrypto
import TomboloJSON

@testable import TomboloProgram

/// `clip pack`: pictures made small enough for a push.
@Suite struct ClipPackTests {
    private let work: TemporaryDirectory

    init() throws { work = try TemporaryDirectory() }

    /// The cats of the scenario `runner`.
    private static var cats: [[UInt8]] {
        get throws {
            try RunnerCat.frames.map { try #require(Base64.decode($0)) }
        }
    }

    /// A ball in many colours, on nothing, at `x` of 48.
    private static func ball(_ x: Int) -> Picture {
        let pixels = (0..<32 * 48).map { place -> Picture.Colour in
            let (dx, dy) = (place % 48 - x, place / 48 - 16)
            let distance = dx * dx + dy * dy
            guard distance < 144 else { return Picture.Colour() }
            return Picture.Colour(UInt8(255 - distance), UInt8(60 + distance), 40, 255)
        }
        return Picture(width: 48, height: 32, pixels: pixels)
    }

    @Test func `pictures that fit stay as they are, pixel by pixel`() throws {
        let pictures = try Self.cats.map { try #require(Picture(png: $0)) }
        let packing = try #require(ClipPacking(pictures, fit: .bundle, limit: 3_400))
        #expect(packing.width == 48)
        #expect(packing.height == 32)
        #expect(packing.colours == 2)
        for (picture, frame) in zip(pictures, packing.frames) {
            let again = try #require(Base64.decode(frame).flatMap(Picture.init(png:)))
            #expect(again == picture)
        }
    }

    @Test(arguments: [3_400, 1_500, 800])
    func `what is too large loses colours or size until it fits`(_ limit: Int) throws {
        let balls = (0..<5).map { Self.ball(10 + $0 * 7) }
        let packing = try #require(ClipPacking(balls, fit: .bundle, limit: limit))
        #expect(ClipPacking.bytes(packing.frames, .bundle) <= limit)
        #expect(packing.colours < 78, "the ball has more colours than fit")
        for frame in packing.frames {
            let picture = try #require(Base64.decode(frame).flatMap(Picture.init(png:)))
            #expect(picture.width == packing.width)
            #expect(picture.height == packing.height)
            #expect(Set(picture.pixels).count <= packing.colours)
        }
        // One frame a push has more room.
        let alone = try #require(ClipPacking(balls, fit: .step, limit: limit))
        #expect(alone.width * alone.height * alone.colours >= packing.width * packing.height)
        #expect(ClipPacking(balls, fit: .bundle, limit: 100) == nil)
    }

    @Test func `a palette keeps a picture's own colours where they are few`() {
        let colours = (0..<8).map { Picture.Colour(UInt8($0 * 30), 0, UInt8($0), 255) }
        let palette = Palette(of: colours + colours, colours: 8)
        for colour in colours { #expect(palette.colours[palette.index(of: colour)] == colour) }
        let two = Palette(of: colours, colours: 2)
        #expect(two.colours.count == 2)
        #expect(two.index(of: colours[0]) != two.index(of: colours[7]))
    }

    @Test func `the clip that is printed is one that a relay takes`() throws {
        var line = ["clip", "pack", "--every", "80ms", "--path", "/picture"]
        for (index, cat) in try Self.cats.enumerated() {
            let path = "\(work.path)/cat-\(index).png"
            try FileBytes.write(cat, to: path)
            line.append(path)
        }
        let result = try Tombolo.run(line)
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.errors.contains("5 frames of 48x32, made 48x32 of 2 colours"))
        let clip = try json(result.output)["flipbook"]
        #expect(clip?["frames"]?.count == 5)
        #expect(clip?["every"]?.string == "80ms")
        #expect(clip?["path"]?.string == "/picture")
    }

    @Test func `what is no picture, of another size, or too much is told`() throws {
        let path = "\(work.path)/cat.png"
        try FileBytes.write(try Self.cats[0], to: path)
        let other = "\(work.path)/ball.png"
        try FileBytes.write(
            try #require(
                Self.ball(30).scaled(toWidth: 48, height: 31).png(colours: 2)?.bytes), to: other)
        for (arguments, status, word) in [
            ([path], Int32(2), "two frames"), ([path, other], 2, "48x31"),
            ([path, "\(work.path)/none.png"], 3, "No such file"),
            ([path, "/etc/hostname"], 2, "is not a PNG"),
            ([path, path, "--limit", "64"], 1, "cannot be made to fit"),
        ] {
            let result = try Tombolo.run(["clip", "pack"] + arguments)
            #expect(result.status == status, "\(arguments)")
            #expect(result.errors.contains(word), "\(result.errors)")
        }
    }
}
