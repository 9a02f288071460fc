import COpenSSL

/// SHA-256 (FIPS 180-4).
package enum SHA256 {
    /// Bytes of a digest.
    package static let digestBytes = 32

    /// The 32-byte digest of `bytes`.
    package static func digest(_ bytes: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: digestBytes) { digest, count in
            let done = EVP_Digest(bytes, bytes.count, digest.baseAddress, nil, EVP_sha256(), nil)
            precondition(done == 1, "OpenSSL offers no SHA-256")
            count = digestBytes
        }
    }

    /// The 32-byte digest of a text's UTF-8.
    package static func digest(_ text: String) -> [UInt8] { digest([UInt8](text.utf8)) }
}
