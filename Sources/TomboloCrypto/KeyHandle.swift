import COpenSSL

/// Owns an OpenSSL key, and frees it when the last reference is gone.
///
/// `@unchecked Sendable`: no lock is needed, because the key never changes after `init`. OpenSSL
/// allows several threads to sign and verify with one `EVP_PKEY` if each has a context of its own;
/// `signDER` and `verifiesDER` make one.
final class KeyHandle: @unchecked Sendable {
    private let key: OpaquePointer

    /// Takes ownership of one reference to `key`.
    init(owning key: OpaquePointer) { self.key = key }

    deinit { EVP_PKEY_free(key) }

    /// True if the key is on P-256.
    var isP256: Bool {
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1 else { return false }
        let group = name[..<length].map { UInt8(bitPattern: $0) }
        return group.elementsEqual("prime256v1".utf8)
    }

    /// PKCS#8 PEM of the private key.
    var pkcs8PEM: [UInt8] {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        let done = PEM_write_bio_PKCS8PrivateKey(bio, key, nil, nil, 0, nil, nil)
        precondition(done == 1, "OpenSSL does not write the key")
        var pem: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 512)
        while true {
            let count = BIO_read(bio, &piece, Int32(piece.count))
            guard count > 0 else { return pem }
            pem.append(contentsOf: piece[..<Int(count)])
        }
    }

    /// ECDSA with SHA-256 over `message`, as DER.
    func signDER(_ message: [UInt8]) -> [UInt8] {
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        let begun = EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key)
        precondition(begun == 1, "OpenSSL does not sign with this key")
        var length = 0
        EVP_DigestSign(context, nil, &length, message, message.count)
        var signature = [UInt8](repeating: 0, count: length)
        let done = EVP_DigestSign(context, &signature, &length, message, message.count)
        precondition(done == 1, "OpenSSL does not sign with this key")
        return [UInt8](signature[..<length])
    }

    /// True if `signature` (DER) is this key's ECDSA with SHA-256 over `message`.
    func verifiesDER(_ signature: [UInt8], over message: [UInt8]) -> Bool {
        let context = EVP_MD_CTX_new()
        defer {
            EVP_MD_CTX_free(context)
            // A wrong signature fills OpenSSL's error list, which a later call would report.
            ERR_clear_error()
        }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, message, message.count) == 1
    }
}
