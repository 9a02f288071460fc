/// A picture in colour, the source of a clip's frames.
struct Picture: Hashable, Sendable {
    /// The colour of a pixel. Its channels are red, green, blue and alpha.
    typealias Colour = SIMD4<UInt8>

    let width: Int
    let height: Int
    /// The pixels, row by row.
    let pixels: [Colour]

    /// Reads a PNG. Nil if it is damaged or larger than `Bitmap.sideMax`.
    init?(png bytes: [UInt8]) {
        guard let (width, height) = PNG.size(bytes),
            (1...Bitmap.sideMax).contains(width), (1...Bitmap.sideMax).contains(height),
            let rgba = PNG.rgba(bytes, pixels: width * height)
        else { return nil }
        self.width = width
        self.height = height
        pixels = stride(from: 0, to: rgba.count, by: 4).map { place -> Colour in
            // All invisible pixels get the same colour, so that they need only one palette entry.
            let alpha = rgba[place + 3]
            if alpha == 0 { return Colour() }
            return Colour(rgba[place], rgba[place + 1], rgba[place + 2], alpha)
        }
    }

    /// Makes a picture of `width * height` given pixels.
    init(width: Int, height: Int, pixels: [Colour]) {
        precondition(pixels.count == width * height)
        (self.width, self.height, self.pixels) = (width, height, pixels)
    }

    /// A smaller picture: each pixel is the mean of the pixels that it replaces.
    func scaled(toWidth newWidth: Int, height newHeight: Int) -> Picture {
        guard newWidth < width || newHeight < height else { return self }
        var result: [Colour] = []
        for y in 0..<newHeight {
            let top = y * height / newHeight
            let rows = top..<max(top + 1, (y + 1) * height / newHeight)
            for x in 0..<newWidth {
                let left = x * width / newWidth
                result.append(mean(left..<max(left + 1, (x + 1) * width / newWidth), rows))
            }
        }
        return Picture(width: newWidth, height: newHeight, pixels: result)
    }

    private func mean(_ columns: Range<Int>, _ rows: Range<Int>) -> Colour {
        var sum = SIMD4<Int>()
        var alpha = 0
        for y in rows {
            for x in columns {
                let pixel = pixels[y * width + x]
                let weight = Int(pixel.w)
                sum &+= SIMD4(Int(pixel.x), Int(pixel.y), Int(pixel.z), 0) &* weight
                alpha += weight
            }
        }
        guard alpha > 0 else { return Colour() }
        let count = columns.count * rows.count
        return Colour(
            UInt8((sum.x + alpha / 2) / alpha), UInt8((sum.y + alpha / 2) / alpha),
            UInt8((sum.z + alpha / 2) / alpha), UInt8((alpha + count / 2) / count))
    }

    /// Returns a PNG with at most `colours` colours (2 to 256) and as few bits per pixel as
    /// possible, and the number of its colours.
    func png(colours: Int) -> (bytes: [UInt8], colours: Int)? {
        let palette = Palette(of: pixels, colours: colours)
        let indices = pixels.map { UInt8(palette.index(of: $0)) }
        let entries = palette.colours.flatMap { [$0.x, $0.y, $0.z, $0.w] }
        return PNG.bytes(indices, width: width, height: height, palette: entries).map {
            (Self.withoutColourSpace(png: $0), palette.colours.count)
        }
    }
}
