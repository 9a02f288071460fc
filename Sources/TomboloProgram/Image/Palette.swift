/// A palette with few colours for a picture. If the picture has few enough colours, these are the
/// palette. Otherwise near colours are grouped in boxes, by halving the widest box again and again,
/// and each box gives its mean colour (Heckbert's median cut).
struct Palette: Sendable {
    let colours: [Picture.Colour]
    private let known: [Picture.Colour: Int]

    /// - Parameter colours: maximum number of colours, 1 to 256.
    init(of pixels: [Picture.Colour], colours limit: Int) {
        var counts: [Picture.Colour: Int] = [:]
        for pixel in pixels { counts[pixel, default: 0] += 1 }
        let all = counts.map { (colour: $0.key, count: $0.value) }
            .sorted { Self.order($0.colour) < Self.order($1.colour) }
        var boxes = [all]
        while boxes.count < limit, let widest = Self.widest(boxes) {
            let box = boxes[widest.box].sorted {
                ($0.colour[widest.channel], Self.order($0.colour))
                    < ($1.colour[widest.channel], Self.order($1.colour))
            }
            let cut = Self.middle(of: box)
            boxes[widest.box] = Array(box[..<cut])
            boxes.append(Array(box[cut...]))
        }
        colours = boxes.map(Self.mean)
        var known: [Picture.Colour: Int] = [:]
        for (index, box) in boxes.enumerated() { for entry in box { known[entry.colour] = index } }
        self.known = known
    }

    /// The palette's index for a colour of the picture.
    func index(of colour: Picture.Colour) -> Int { known[colour] ?? 0 }

    private typealias Entry = (colour: Picture.Colour, count: Int)

    private static func widest(_ boxes: [[Entry]]) -> (box: Int, channel: Int)? {
        var best: (width: Int, box: Int, channel: Int)?
        for (index, box) in boxes.enumerated() where box.count > 1 {
            for channel in 0..<4 {
                let values = box.map { Int($0.colour[channel]) }
                let width = (values.max() ?? 0) - (values.min() ?? 0)
                if width > best?.width ?? -1 { best = (width, index, channel) }
            }
        }
        return best.map { ($0.box, $0.channel) }
    }

    /// The index at which the box is split, so that both halves have about equally many pixels.
    /// Neither half is empty.
    private static func middle(of box: [Entry]) -> Int {
        let half = box.reduce(0) { $0 + $1.count } / 2
        var sum = 0
        for (index, entry) in box.enumerated() {
            sum += entry.count
            if sum > half { return min(max(1, index), box.count - 1) }
        }
        return box.count - 1
    }

    private static func mean(_ box: [Entry]) -> Picture.Colour {
        let total = max(1, box.reduce(0) { $0 + $1.count })
        var result = Picture.Colour()
        for channel in 0..<4 {
            let sum = box.reduce(0) { $0 + Int($1.colour[channel]) * $1.count }
            result[channel] = UInt8((sum + total / 2) / total)
        }
        return result
    }

    private static func order(_ colour: Picture.Colour) -> UInt32 {
        UInt32(colour.x) << 24 | UInt32(colour.y) << 16 | UInt32(colour.z) << 8 | UInt32(colour.w)
    }
}
