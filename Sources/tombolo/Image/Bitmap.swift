/// A picture of two colours, as a terminal can show it.
struct Bitmap: Hashable, Sendable {
    let width: Int
    let height: Int
    private let pixels: [Bool]

    /// Larger pictures are no frames for an island.
    static let sideMax = 512

    /// Reads a PNG; a pixel is lit where it is nearer to white than to black. A damaged picture,
    /// and one larger than `sideMax`, is nil.
    init?(png bytes: [UInt8]) {
        guard let (width, height) = PNG.size(bytes),
            (1...Self.sideMax).contains(width), (1...Self.sideMax).contains(height),
            let grey = PNG.grey(bytes, pixels: width * height)
        else { return nil }
        self.width = width
        self.height = height
        pixels = grey.map { $0 >= 128 }
    }

    /// One that is lit where `isLit(x, y)` says so.
    init(width: Int, height: Int, isLit: (Int, Int) -> Bool) {
        self.width = width
        self.height = height
        pixels = (0..<width * height).map { isLit($0 % width, $0 / width) }
    }

    /// Whether a pixel is lit; outside the picture none is.
    /// The same picture in another size: the nearest pixel of it for each.
    func scaled(width: Int, height: Int) -> Bitmap {
        Bitmap(width: width, height: height) { x, y in
            self[x * self.width / width, y * self.height / height]
        }
    }

    subscript(x: Int, y: Int) -> Bool {
        (0..<width).contains(x) && (0..<height).contains(y) && pixels[y * width + x]
    }

    /// The picture in braille: two by four pixels a character.
    var braille: [String] {
        Swift.stride(from: 0, to: height, by: 4).map { top in
            var line = String.UnicodeScalarView()
            for left in Swift.stride(from: 0, to: width, by: 2) {
                var dots: UInt32 = 0
                for (bit, dot) in Self.dots.enumerated() where self[left + dot.x, top + dot.y] {
                    dots |= 1 << UInt32(bit)
                }
                line.append(Unicode.Scalar(0x2800 + dots) ?? " ")
            }
            return String(line)
        }
    }

    /// Unicode, "Braille Patterns": which dot is which bit.
    private static let dots: [(x: Int, y: Int)] = [
        (0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3),
    ]
}
