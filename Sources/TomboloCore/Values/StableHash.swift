/// A 64-bit FNV-1a hash: the same in every process and on every machine, unlike `Hasher`.
///
/// It detects changes; it keeps no secret and withstands no adversary.
package struct StableHash: Sendable {
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    /// The same as for any sequence, but compiled for the most frequent type, because the generic
    /// code costs 30 ns a byte when called from another module.
    package mutating func combine(_ bytes: [UInt8]) {
        for byte in bytes {
            value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        value = (value ^ 0xff) &* 0x0000_0100_0000_01b3
    }

    /// Adds a run of bytes; the bounds between runs count.
    package mutating func combine(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01b3
        }
        // A terminator, so that "ab"+"c" and "a"+"bc" differ.
        value = (value ^ 0xff) &* 0x0000_0100_0000_01b3
    }
}
