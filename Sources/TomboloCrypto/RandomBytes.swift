import COpenSSL

/// Bytes nobody can guess, from OpenSSL's generator, which the kernel seeds.
///
/// For keys, secrets and seeds. Not for decisions of the core: those take their chance as a
/// parameter.
package enum RandomBytes {
    /// `count` unpredictable bytes; `count` is zero or more.
    ///
    /// Traps where the operating system has no entropy: to go on would mean keys that can be
    /// guessed.
    package static func make(_ count: Int) -> [UInt8] {
        precondition(count >= 0 && count <= Int(Int32.max), "bytes to make: 0 to 2^31 - 1")
        // Of no bytes it would write the count of the empty array that the whole process shares.
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
            let done = RAND_bytes(bytes.baseAddress, Int32(count))
            precondition(done == 1, "the system has no entropy for random bytes")
            initialized = count
        }
    }
}
