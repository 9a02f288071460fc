import Testing
import TomboloCrypto
import TomboloJSON

@testable import TomboloProgram

/// `clip pack` on real files: of any depth, with alpha, interlaced; and those that it cannot take.
@Suite struct PackedPictureTests {
    private let work: TemporaryDirectory

    init() throws { work = try TemporaryDirectory() }

    private func file(_ name: String, _ bytes: [UInt8]) throws -> String {
        let path = "\(work.path)/\(name).png"
        try FileBytes.write(bytes, to: path)
        return path
    }

    /// The frames of the clip that is printed.
    private func packed(_ arguments: [String]) throws -> [Picture] {
        let result = try Tombolo.run(["clip", "pack"] + arguments)
        #expect(result.status == 0, "\(result.errors)")
        let frames = try json(result.output)["flipbook"]?["frames"]
        return try #require(frames).elements.map {
            try #require($0.string.flatMap(Base64.decode).flatMap(Picture.init(png:)))
        }
    }

    /// Four colours, one of them half transparent and one not there at all.
    private static func colour(_ x: Int, _ y: Int) -> [UInt8] {
        [
            [200, 10, 20, 255], [0, 90, 180, 128], [0, 0, 0, 0], [255, 255, 255, 255],
        ][(x / 5 + y / 3) % 4]
    }

    @Test func `alpha and interlaced pictures come through pixel by pixel`() throws {
        var maker = PNGMaker(width: 21, height: 13, pixel: Self.colour)
        let plain = try file("plain", maker.bytes)
        maker.isInterlaced = true
        let interlaced = try file("interlaced", maker.bytes)
        let frames = try packed([plain, interlaced])
        #expect(frames.count == 2)
        #expect(frames[0] == frames[1])
        for y in 0..<13 {
            for x in 0..<21 {
                let pixel = frames[0].pixels[y * 21 + x]
                #expect([pixel.x, pixel.y, pixel.z, pixel.w] == Self.colour(x, y))
            }
        }
    }

    @Test func `of sixteen bits the upper eight are kept`() throws {
        var maker = PNGMaker(width: 12, height: 8) { x, y in
            [UInt8(x * 20), 0x80, UInt8(y * 30), 0x10, 7, 7]
        }
        (maker.depth, maker.colourType) = (16, 2)
        let path = try file("deep", maker.bytes)
        let frame = try #require(try packed([path, path]).first)
        for y in 0..<8 {
            for x in 0..<12 {
                let pixel = frame.pixels[y * 12 + x]
                for (one, other) in zip(
                    [pixel.x, pixel.y, pixel.z, pixel.w], [x * 20, y * 30, 7, 255])
                { #expect(abs(Int(one) - other) <= 1) }
            }
        }
    }

    /// Thirteen bytes of each frame said what every reader takes a picture for.
    @Test func `a packed frame says nothing of its colour space`() throws {
        let maker = PNGMaker(width: 8, height: 8, pixel: Self.colour)
        let path = try file("small", maker.bytes)
        let result = try Tombolo.run(["clip", "pack", path, path])
        let frames = try json(result.output)["flipbook"]?["frames"]
        for frame in try #require(frames).elements {
            let bytes = try #require(frame.string.flatMap(Base64.decode))
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(text.contains("IDAT"))
            #expect(!text.contains("sRGB"))
        }
    }

    @Test func `what it cannot take is told with its remedy`() throws {
        var maker = PNGMaker(width: 8, height: 8, pixel: Self.colour)
        let good = try file("good", maker.bytes)
        let damaged = try file("damaged", Array(maker.bytes.dropLast(30)))
        maker.isAnimated = true
        let animated = try file("animated", maker.bytes)
        let wide = try file("wide", PNGMaker(width: 513, height: 2, pixel: Self.colour).bytes)
        for (arguments, words) in [
            ([good, animated], ["is animated", "ffmpeg -i"]),
            ([good, wide], ["is 513x2, more than 512 by 512", "-resize 512x512"]),
            ([good, damaged], ["is a damaged PNG"]), ([good, "/etc/hostname"], ["is not a PNG"]),
            (["--path", "image", good, good], ["is not a JSON Pointer", "--path /image"]),
        ] {
            let result = try Tombolo.run(["clip", "pack"] + arguments)
            #expect(result.status == 2, "\(arguments)")
            for word in words { #expect(result.errors.contains(word), "\(result.errors)") }
        }
    }
}
