import TomboloCrypto

/// Frames of a clip, made small enough for a push. Of all palettes and sizes that fit, it uses
/// those that keep the most detail.
struct ClipPacking: Sendable {
    let width: Int
    let height: Int
    /// Number of colours of the frame that has the most.
    let colours: Int
    /// The frames as base64, in order.
    let frames: [String]

    /// The bytes to which the limit applies.
    enum Fit: String, Hashable, Sendable, CaseIterable {
        /// All frames together.
        case bundle
        /// The largest frame.
        case step
    }

    /// Palette sizes to try; more colours need more bits for each pixel.
    static let palettes = [256, 64, 16, 8, 4, 2]
    /// Sizes to try, in 24ths of the original.
    static let sizes = [24, 21, 18, 16, 14, 12, 10, 8, 6, 5, 4, 3]

    /// Number of bytes of the frames in JSON: base64, with quotes, and with commas between several.
    static func bytes(_ frames: [String], _ fit: Fit) -> Int {
        switch fit {
        case .bundle: frames.reduce(1) { $0 + $1.utf8.count + 3 }
        case .step: (frames.map(\.utf8.count).max() ?? 0) + 2
        }
    }

    /// - Parameters:
    ///   - pictures: one or more, all of the same size.
    ///   - limit: maximum number of bytes of the frames.
    ///   - colours: maximum number of colours, even if more would fit.
    ///
    /// Nil if even the smallest version does not fit.
    init?(_ pictures: [Picture], fit: Fit, limit: Int, colours most: Int = 256) {
        guard let first = pictures.first else { return nil }
        var best: (quality: Double, packing: ClipPacking)?
        for size in Self.sizes {
            let width = max(1, first.width * size / 24)
            let height = max(1, first.height * size / 24)
            let small = pictures.map { $0.scaled(toWidth: width, height: height) }
            for colours in Self.palettes where colours <= most {
                let quality = Double(width * height) * Self.bits(colours)
                if quality <= best?.quality ?? 0 { continue }
                let pngs = small.compactMap { $0.png(colours: colours) }
                guard pngs.count == small.count else { continue }
                let frames = pngs.map { Base64.encode($0.bytes) }
                guard Self.bytes(frames, fit) <= limit else { continue }
                best = (
                    quality,
                    ClipPacking(
                        width: width, height: height,
                        colours: pngs.map(\.colours).max() ?? colours, frames: frames)
                )
            }
        }
        guard let best else { return nil }
        self = best.packing
    }

    private init(width: Int, height: Int, colours: Int, frames: [String]) {
        (self.width, self.height, self.colours, self.frames) = (width, height, colours, frames)
    }

    /// Number of bits for each pixel.
    private static func bits(_ colours: Int) -> Double {
        var bits = 0
        while 1 << bits < colours { bits += 1 }
        return Double(bits)
    }
}
