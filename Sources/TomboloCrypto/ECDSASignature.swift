import COpenSSL

/// The two encodings of an ECDSA signature on P-256.
enum ECDSASignature {
    /// Bytes of R‖S: 32 each, big-endian (RFC 7518, section 3.4).
    static let rawBytes = 64

    /// The DER form of R‖S; nil if `raw` does not have 64 bytes.
    static func der(raw: [UInt8]) -> [UInt8]? {
        guard raw.count == rawBytes, let signature = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(signature) }
        let r = raw.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress, 32, nil) }
        let s = raw.withUnsafeBufferPointer { BN_bin2bn($0.baseAddress! + 32, 32, nil) }
        // `ECDSA_SIG_set0` takes ownership of both numbers.
        guard ECDSA_SIG_set0(signature, r, s) == 1 else { return nil }
        var buffer: UnsafeMutablePointer<UInt8>?
        let length = i2d_ECDSA_SIG(signature, &buffer)
        guard length > 0, let buffer else { return nil }
        defer { CRYPTO_free(buffer, #file, #line) }
        return [UInt8](UnsafeBufferPointer(start: buffer, count: Int(length)))
    }

    /// R‖S of a DER signature that OpenSSL has just made, so it is valid.
    static func raw(der: [UInt8]) -> [UInt8] {
        der.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            let signature = d2i_ECDSA_SIG(nil, &cursor, bytes.count)
            defer { ECDSA_SIG_free(signature) }
            var raw = [UInt8](repeating: 0, count: rawBytes)
            let r = BN_bn2binpad(ECDSA_SIG_get0_r(signature), &raw, 32)
            let s = raw.withUnsafeMutableBufferPointer {
                BN_bn2binpad(ECDSA_SIG_get0_s(signature), $0.baseAddress! + 32, 32)
            }
            precondition(r == 32 && s == 32, "OpenSSL made a signature that is not one on P-256")
            return raw
        }
    }
}
