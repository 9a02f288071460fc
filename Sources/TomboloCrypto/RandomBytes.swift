import COpenSSL

/// Unpredictable bytes from OpenSSL's generator, which the kernel seeds. Use it for keys, secrets
/// and seeds. The core does not use it: its random numbers are a parameter.
package enum RandomBytes {
    /// Returns `count` unpredictable bytes; `count` may be zero.
    ///
    /// Traps if the operating system has no randomness, because keys would be predictable.
    package static func make(_ count: Int) -> [UInt8] {
        precondition(count >= 0 && count <= Int(Int32.max), "bytes to make: 0 to 2^31 - 1")
        // Setting the count to zero would write to the empty array that the whole process shares.
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { bytes, initialized in
            let done = RAND_bytes(bytes.baseAddress, Int32(count))
            precondition(done == 1, "the system has no entropy for random bytes")
            initialized = count
        }
    }
}
