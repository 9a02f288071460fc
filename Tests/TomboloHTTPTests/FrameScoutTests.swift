import Testing

@testable import TomboloHTTP

struct FrameScoutTests {
    @Test func `however the bytes are cut, it stands at the same frame`() {
        // Lengths 0 to 5, each with a head of nine bytes; the last frame is cut.
        var bytes: [UInt8] = []
        for length in 0..<6 {
            bytes += [0, 0, UInt8(length), 1, 4, 0, 0, 0, 1] + [UInt8](repeating: 7, count: length)
        }
        bytes += [0, 1, 0, 0, 0, 0, 0, 0, 3, 9]
        var whole = FrameScout()
        bytes.withUnsafeBytes { whole.run(through: $0, nil) }
        #expect(whole.bytesToNextFrame == 255)
        for size in 1..<bytes.count {
            var scout = FrameScout()
            for start in stride(from: 0, to: bytes.count, by: size) {
                bytes[start..<min(start + size, bytes.count)].withUnsafeBytes {
                    scout.run(through: $0, nil)
                }
            }
            #expect(scout == whole, "in pieces of \(size)")
        }
    }
}
