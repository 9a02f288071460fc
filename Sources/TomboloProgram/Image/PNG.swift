#if ClipPack
import CPNG
#endif

/// Reads and writes PNG files with libpng. Without the trait `ClipPack`, both fail.
enum PNG {
    #if ClipPack
    static let isThere = true

    /// The size in a PNG's header, in pixels; nil if the bytes are not a PNG.
    static func size(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
        var width: UInt32 = 0
        var height: UInt32 = 0
        guard tombolo_png_size(bytes, bytes.count, &width, &height) != 0 else { return nil }
        return (Int(width), Int(height))
    }

    /// One byte of grey for each pixel; nil if the picture is damaged.
    static func grey(_ bytes: [UInt8], pixels: Int) -> [UInt8]? {
        var grey = [UInt8](repeating: 0, count: pixels)
        return tombolo_png_grey(bytes, bytes.count, &grey) != 0 ? grey : nil
    }

    /// Red, green, blue and alpha bytes of each pixel; nil if the picture is damaged.
    static func rgba(_ bytes: [UInt8], pixels: Int) -> [UInt8]? {
        var rgba = [UInt8](repeating: 0, count: pixels * 4)
        return tombolo_png_rgba(bytes, bytes.count, &rgba) != 0 ? rgba : nil
    }

    /// Makes a PNG from palette indices. The palette has four bytes for each colour.
    static func bytes(
        _ indices: [UInt8], width: Int, height: Int, palette: [UInt8]
    ) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: indices.count * 2 + 4_096)
        let count = tombolo_png_palette(
            indices, UInt32(width), UInt32(height), palette, UInt32(palette.count / 4), &bytes,
            bytes.count)
        return count > 0 ? Array(bytes[..<count]) : nil
    }
    #else
    static let isThere = false

    static func size(_ bytes: [UInt8]) -> (width: Int, height: Int)? { nil }
    static func grey(_ bytes: [UInt8], pixels: Int) -> [UInt8]? { nil }
    static func rgba(_ bytes: [UInt8], pixels: Int) -> [UInt8]? { nil }
    static func bytes(
        _ indices: [UInt8], width: Int, height: Int, palette: [UInt8]
    ) -> [UInt8]? { nil }
    #endif
}
