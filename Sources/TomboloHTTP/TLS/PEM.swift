import COpenSSL

/// Readers for PEM (RFC 7468). The results own their OpenSSL objects.
enum PEM {
    /// Largest file that is accepted, in bytes. The system's bundle has about 220 KiB.
    static let bytesMax = 4 << 20

    /// All certificates in order. Throws if there is none, one is damaged, or the file is too
    /// large.
    static func certificates(_ bytes: [UInt8], what: String) throws(TLSError) -> [Certificate] {
        guard bytes.count <= bytesMax else { throw TLSError("\(what) has more than 4 MiB") }
        guard let bio = BIO_new_mem_buf(bytes, Int32(bytes.count)) else {
            throw TLSError("out of memory")
        }
        defer { BIO_free(bio) }
        var found: [Certificate] = []
        ERR_clear_error()
        while let certificate = PEM_read_bio_X509(bio, nil, nil, nil) {
            found.append(Certificate(certificate))
        }
        let last = ERR_peek_last_error()
        let reason = takeOpenSSLReason()
        // At the end of the file OpenSSL reports "no start line"; any other reason means damage.
        guard last == 0 || reason == "no start line" else {
            throw TLSError("\(what) holds a damaged certificate: \(reason)")
        }
        guard !found.isEmpty else {
            throw TLSError("\(what) holds no certificate; it must be PEM (-----BEGIN CERTIFICATE)")
        }
        return found
    }

    static func privateKey(_ bytes: [UInt8], what: String) throws(TLSError) -> PrivateKey {
        guard bytes.count <= bytesMax, let bio = BIO_new_mem_buf(bytes, Int32(bytes.count)) else {
            throw TLSError("\(what) has more than 4 MiB")
        }
        defer { BIO_free(bio) }
        ERR_clear_error()
        // OpenSSL would ask for a pass phrase on the terminal. The callback refuses it instead.
        guard let key = PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil) else {
            throw TLSError(
                "\(what) holds no usable private key (\(takeOpenSSLReason())); it must be PEM"
                    + " without a pass phrase")
        }
        return PrivateKey(key)
    }

    /// Returns the bytes that `write` puts into a memory BIO.
    static func written(_ write: (OpaquePointer) -> Int32) throws(TLSError) -> [UInt8] {
        guard let bio = BIO_new(BIO_s_mem()) else { throw TLSError("out of memory") }
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { throw TLSError(takeOpenSSLReason()) }
        var bytes: UnsafeMutablePointer<CChar>?
        let count = tombolo_bio_bytes(bio, &bytes)
        guard let bytes, count > 0 else { return [] }
        return Array(UnsafeRawBufferPointer(start: bytes, count: count))
    }
}

/// Owns an `X509`.
final class Certificate {
    let pointer: OpaquePointer
    init(_ pointer: OpaquePointer) { self.pointer = pointer }
    deinit { X509_free(pointer) }
}

/// Owns an `EVP_PKEY`.
final class PrivateKey {
    let pointer: OpaquePointer
    init(_ pointer: OpaquePointer) { self.pointer = pointer }
    deinit { EVP_PKEY_free(pointer) }
}
