import COpenSSL

/// True if two byte strings are equal. The time depends on their lengths only.
///
/// Use it to compare a received secret with a stored one. It does not hide the lengths.
package func equalInConstantTime(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
}
