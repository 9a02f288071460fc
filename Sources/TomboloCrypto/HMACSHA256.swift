import COpenSSL

/// HMAC with SHA-256 (RFC 2104, FIPS 198-1).
package enum HMACSHA256 {
    /// The 32-byte authentication code of `message` under `key`.
    ///
    /// A key may have any length; one longer than 64 bytes is hashed first, as the RFC says.
    /// Compare codes only with `equalInConstantTime(_:_:)`.
    package static func authenticate(_ message: [UInt8], key: [UInt8]) -> [UInt8] {
        // If the pointer of an empty key is nil, OpenSSL thinks that there is no key.
        let keyBytes = key.isEmpty ? [0] : key
        return [UInt8](unsafeUninitializedCapacity: SHA256.digestBytes) { code, count in
            let done = EVP_Q_mac(
                nil, "HMAC", nil, "SHA256", nil, keyBytes, key.count, message, message.count,
                code.baseAddress, SHA256.digestBytes, &count)
            precondition(
                done != nil && count == SHA256.digestBytes, "OpenSSL offers no HMAC-SHA-256")
        }
    }
}
