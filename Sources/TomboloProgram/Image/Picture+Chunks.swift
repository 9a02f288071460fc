// A PNG has a signature and then chunks. A chunk has a length, a type, as many bytes as the length
// says, and a checksum (W3C, "Portable Network Graphics", 5).

extension Picture {
    private static let signatureLength = 8
    /// Number of bytes of a chunk's length, type and checksum.
    private static let frameLength = 12

    /// True if the PNG is animated: it has an `acTL` chunk before its first picture.
    static func isAnimated(png bytes: [UInt8]) -> Bool {
        chunks(bytes).prefix { $0.type != "IDAT" }.contains { $0.type == "acTL" }
    }

    /// Returns the PNG without its `sRGB` chunk, because readers assume sRGB anyway.
    static func withoutColourSpace(png bytes: [UInt8]) -> [UInt8] {
        guard let chunk = chunks(bytes).first(where: { $0.type == "sRGB" }) else { return bytes }
        return Array(bytes[..<chunk.place.lowerBound] + bytes[chunk.place.upperBound...])
    }

    /// The complete chunks, in order.
    private static func chunks(_ bytes: [UInt8]) -> [(type: String, place: Range<Int>)] {
        var chunks: [(type: String, place: Range<Int>)] = []
        var start = signatureLength
        while start + frameLength <= bytes.count {
            let length = bytes[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            let end = start + frameLength + length
            guard end <= bytes.count else { break }
            chunks.append(
                (String(decoding: bytes[start + 4..<start + 8], as: UTF8.self), start..<end))
            start = end
        }
        return chunks
    }
}
