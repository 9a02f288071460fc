import COpenSSL

/// Whether two byte strings are equal, in a time that depends on their lengths only.
///
/// For secrets: what a caller sends against what is stored. The lengths themselves are not hidden.
package func equalInConstantTime(_ one: [UInt8], _ other: [UInt8]) -> Bool {
    one.count == other.count && CRYPTO_memcmp(one, other, one.count) == 0
}
