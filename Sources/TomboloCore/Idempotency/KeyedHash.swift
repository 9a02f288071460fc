/// SipHash-1-3 (Aumasson and Bernstein, "SipHash: a fast short-input PRF"): 64 bits that nobody can
/// predict without the key. Producers choose idempotency keys. With a plain hash, a producer could
/// choose keys that collide.
package struct KeyedHash: Sendable {
    private let key0: UInt64
    private let key1: UInt64

    package init(key0: UInt64, key1: UInt64) {
        self.key0 = key0
        self.key1 = key1
    }

    /// The hash of `number` (eight bytes, little-endian), followed by `bytes`.
    package func callAsFunction(_ number: UInt64, _ bytes: UnsafeRawBufferPointer) -> UInt64 {
        var state = State(key0: key0, key1: key1)
        state.absorb(number)
        var offset = 0
        while offset + 8 <= bytes.count {
            let word = bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            state.absorb(UInt64(littleEndian: word))
            offset += 8
        }
        var last = UInt64(truncatingIfNeeded: bytes.count + 8) << 56
        for (index, byte) in bytes[offset...].enumerated() {
            last |= UInt64(byte) << (8 * UInt64(index))
        }
        state.absorb(last)
        return state.finish()
    }

    /// The hash of `number`, followed by the UTF-8 bytes of `text`.
    package func callAsFunction(_ number: Int64, _ text: String) -> UInt64 {
        var text = text
        return text.withUTF8 {
            self(UInt64(bitPattern: number), UnsafeRawBufferPointer($0))
        }
    }

    private struct State {
        private var v0: UInt64
        private var v1: UInt64
        private var v2: UInt64
        private var v3: UInt64

        init(key0: UInt64, key1: UInt64) {
            v0 = key0 ^ 0x736f_6d65_7073_6575
            v1 = key1 ^ 0x646f_7261_6e64_6f6d
            v2 = key0 ^ 0x6c79_6765_6e65_7261
            v3 = key1 ^ 0x7465_6462_7974_6573
        }

        mutating func absorb(_ word: UInt64) {
            v3 ^= word
            round()
            v0 ^= word
        }

        mutating func finish() -> UInt64 {
            v2 ^= 0xff
            for _ in 0..<3 { round() }
            return v0 ^ v1 ^ v2 ^ v3
        }

        private mutating func round() {
            v0 &+= v1
            v1 = rotate(v1, 13) ^ v0
            v0 = rotate(v0, 32)
            v2 &+= v3
            v3 = rotate(v3, 16) ^ v2
            v0 &+= v3
            v3 = rotate(v3, 21) ^ v0
            v2 &+= v1
            v1 = rotate(v1, 17) ^ v2
            v2 = rotate(v2, 32)
        }

        private func rotate(_ word: UInt64, _ count: UInt64) -> UInt64 {
            word << count | word >> (64 - count)
        }
    }
}
