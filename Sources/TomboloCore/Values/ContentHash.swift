/// A 64-bit hash, to detect within one process that what a phone gets has changed. It reads eight
/// bytes at a time. Each step multiplies to 128 bits and folds both halves, so that each bit of the
/// input affects all bits of the hash. It is no protection against an attacker. It is never 0,
/// which means: no hash.
struct ContentHash {
    private var state: UInt64 = 0x9e37_79b9_7f4a_7c15

    var value: UInt64 { state == 0 ? 1 : state }

    mutating func combine(_ word: UInt64) {
        let product = (state ^ word).multipliedFullWidth(by: 0xa076_1d64_78bd_642f)
        state = product.high ^ product.low ^ word
    }

    mutating func combine(_ bytes: [UInt8]) {
        combine(UInt64(bytes.count))
        bytes.withUnsafeBytes { bytes in
            var place = 0
            while place + 8 <= bytes.count {
                combine(bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                place += 8
            }
            var last: UInt64 = 0
            while place < bytes.count {
                last = last << 8 | UInt64(bytes[place])
                place += 1
            }
            combine(last)
        }
    }
}
