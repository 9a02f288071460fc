/// PNGs that no encoder at hand would make: of any depth, interlaced, animated. Written without
/// compression (RFC 1951, 3.2.4).
struct PNGMaker {
    let width: Int
    let height: Int
    var depth: UInt8 = 8
    /// 0 grey, 2 red, green and blue, 6 with alpha.
    var colourType: UInt8 = 6
    var isInterlaced = false
    var isAnimated = false
    /// The bytes of a pixel.
    var pixel: (_ x: Int, _ y: Int) -> [UInt8]

    init(width: Int, height: Int, pixel: @escaping (_ x: Int, _ y: Int) -> [UInt8]) {
        self.width = width
        self.height = height
        self.pixel = pixel
    }

    var bytes: [UInt8] {
        var png: [UInt8] = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
        png += Self.chunk(
            "IHDR",
            Self.word(width) + Self.word(height)
                + [depth, colourType, 0, 0, isInterlaced ? 1 : 0])
        if isAnimated { png += Self.chunk("acTL", Self.word(1) + Self.word(0)) }
        png += Self.chunk("IDAT", Self.stored(rows))
        return png + Self.chunk("IEND", [])
    }

    /// Adam7: seven pictures, each finer than the one before (W3C, PNG, 8.1).
    private static let passes = [
        (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2),
        (0, 1, 1, 2),
    ]

    private var rows: [UInt8] {
        var rows: [UInt8] = []
        for (left, top, right, down) in isInterlaced ? Self.passes : [(0, 0, 1, 1)]
        where left < width {
            for y in stride(from: top, to: height, by: down) {
                rows.append(0)
                for x in stride(from: left, to: width, by: right) { rows += pixel(x, y) }
            }
        }
        return rows
    }

    private static func word(_ number: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (24 - 8 * $0)) }
    }

    private static func chunk(_ type: String, _ data: [UInt8]) -> [UInt8] {
        let body = Array(type.utf8) + data
        return word(data.count) + body + word(Int(checksum(body)))
    }

    /// zlib's frame around blocks of bytes as they are.
    private static func stored(_ data: [UInt8]) -> [UInt8] {
        var result: [UInt8] = [0x78, 0x01]
        for start in stride(from: 0, to: data.count, by: 65_535) {
            let block = data[start..<min(start + 65_535, data.count)]
            let (low, high) = (UInt8(block.count & 0xff), UInt8(block.count >> 8))
            let isLast: UInt8 = start + 65_535 >= data.count ? 1 : 0
            result += [isLast, low, high, ~low, ~high] + block
        }
        var (one, other) = (1, 0)
        for byte in data {
            one = (one + Int(byte)) % 65_521
            other = (other + one) % 65_521
        }
        return result + word(other << 16 | one)
    }

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum = UInt32.max
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xedb8_8320 : sum >> 1 }
        }
        return ~sum
    }
}
