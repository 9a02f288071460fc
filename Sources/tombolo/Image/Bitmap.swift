/// A picture of two colours, as a terminal can show it.
struct Bitmap: Hashable, Sendable {
    let width: Int
    let height: Int
    private let pixels: [Bool]

    /// Larger pictures are no frames for an island.
    static let sideMax = 512

    /// Reads a PNG of one bit a pixel, grey, not interlaced (PNG, third edition): all that the
    /// scenarios send. Any other picture, and a damaged one, is nil.
    init?(png bytes: [UInt8]) {
        guard bytes.starts(with: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]) else {
            return nil
        }
        var header: [UInt8] = []
        var data: [UInt8] = []
        var position = 8
        while position + 12 <= bytes.count {
            let length = Self.number(bytes[position..<position + 4])
            guard length <= bytes.count - position - 12 else { return nil }
            let body = bytes[(position + 8)..<(position + 8 + length)]
            switch bytes[(position + 4)..<(position + 8)] {
            case [0x49, 0x48, 0x44, 0x52]: header = Array(body)
            case [0x49, 0x44, 0x41, 0x54]: data += body
            default: break
            }
            position += 12 + length
        }
        guard header.count == 13, header[8...] == [1, 0, 0, 0, 0] else { return nil }
        self.init(width: Self.number(header[0..<4]), height: Self.number(header[4..<8]), zlib: data)
    }

    private init?(width: Int, height: Int, zlib data: [UInt8]) {
        guard (1...Self.sideMax).contains(width), (1...Self.sideMax).contains(height) else {
            return nil
        }
        let stride = (width + 7) / 8
        guard let raw = Inflate.zlib(data, limit: (stride + 1) * height),
            raw.count == (stride + 1) * height,
            let rows = Self.unfiltered(raw, stride: stride, height: height)
        else { return nil }
        self.width = width
        self.height = height
        pixels = rows.flatMap { row in
            (0..<width).map { row[$0 / 8] >> (7 - UInt8($0 % 8)) & 1 == 1 }
        }
    }

    /// Whether a pixel is lit; outside the picture none is.
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

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { $0 << 8 | Int($1) }
    }

    /// Undoes the filters of section 9 (a pixel here is less than a byte, so the byte to the left
    /// counts).
    private static func unfiltered(_ raw: [UInt8], stride: Int, height: Int) -> [[UInt8]]? {
        var rows: [[UInt8]] = []
        var above = [UInt8](repeating: 0, count: stride)
        for y in 0..<height {
            let filter = raw[y * (stride + 1)]
            var row = Array(raw[(y * (stride + 1) + 1)..<((y + 1) * (stride + 1))])
            for x in row.indices {
                let left = x > 0 ? row[x - 1] : 0
                let corner = x > 0 ? above[x - 1] : 0
                switch filter {
                case 0: break
                case 1: row[x] &+= left
                case 2: row[x] &+= above[x]
                case 3: row[x] &+= UInt8((Int(left) + Int(above[x])) / 2)
                case 4: row[x] &+= paeth(left, above[x], corner)
                default: return nil
                }
            }
            rows.append(row)
            above = row
        }
        return rows
    }

    private static func paeth(_ left: UInt8, _ above: UInt8, _ corner: UInt8) -> UInt8 {
        let estimate = Int(left) + Int(above) - Int(corner)
        let distances = [left, above, corner].map { abs(estimate - Int($0)) }
        if distances[0] <= distances[1], distances[0] <= distances[2] { return left }
        return distances[1] <= distances[2] ? above : corner
    }
}
