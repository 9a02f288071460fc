/// A picture with two colours, which a terminal can show.
struct Bitmap: Hashable, Sendable {
    let width: Int
    let height: Int
    private let pixels: [Bool]

    /// Maximum width and height in pixels. A larger picture cannot be a frame for an island.
    static let sideMax = 512

    /// Reads a PNG. A pixel is lit if it is nearer to white than to black. Nil if the picture is
    /// damaged or larger than `sideMax`.
    init?(png bytes: [UInt8]) {
        guard let (width, height) = PNG.size(bytes),
            (1...Self.sideMax).contains(width), (1...Self.sideMax).contains(height),
            let grey = PNG.grey(bytes, pixels: width * height)
        else { return nil }
        self.width = width
        self.height = height
        pixels = grey.map { $0 >= 128 }
    }

    /// A picture whose pixels are lit if `isLit(x, y)` is true.
    init(width: Int, height: Int, isLit: (Int, Int) -> Bool) {
        self.width = width
        self.height = height
        pixels = (0..<width * height).map { isLit($0 % width, $0 / width) }
    }

    /// The picture in another size. Each pixel is the nearest one of the original.
    func scaled(width: Int, height: Int) -> Bitmap {
        Bitmap(width: width, height: height) { x, y in
            self[x * self.width / width, y * self.height / height]
        }
    }

    /// True if the pixel is lit; false outside the picture.
    subscript(x: Int, y: Int) -> Bool {
        (0..<width).contains(x) && (0..<height).contains(y) && pixels[y * width + x]
    }

    /// The picture in braille. Each character shows two by four pixels.
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

    /// For each bit of a braille character, the position of its dot (Unicode, "Braille Patterns").
    private static let dots: [(x: Int, y: Int)] = [
        (0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3),
    ]
}
