import COpenSSL

/// A private key on P-256, as in Apple's `.p8` files. It signs provider tokens.
///
/// Immutable; may be used from any thread. Its description never contains the key.
///
/// ```swift
/// let key = P256PrivateKey.generate()
/// let signature = key.signature(over: message)
/// let isValid = key.publicKey.verifies(signature, over: message)  // true
/// ```
package struct P256PrivateKey: Sendable, CustomStringConvertible {
    private let handle: KeyHandle

    /// Makes a new random key.
    package static func generate() -> P256PrivateKey {
        let context = EVP_PKEY_CTX_new_id(EVP_PKEY_EC, nil)
        defer { EVP_PKEY_CTX_free(context) }
        var key: OpaquePointer?
        let done =
            EVP_PKEY_keygen_init(context) == 1
            && EVP_PKEY_CTX_set_ec_paramgen_curve_nid(context, NID_X9_62_prime256v1) == 1
            && EVP_PKEY_keygen(context, &key) == 1
        guard done, let key else { preconditionFailure("OpenSSL makes no keys on P-256") }
        return P256PrivateKey(handle: KeyHandle(owning: key))
    }

    /// The key in a `.p8`: PKCS#8 in PEM, not encrypted (RFC 5958, RFC 7468).
    ///
    /// Text around the block is ignored, as RFC 7468 allows.
    package init(pkcs8PEM pem: [UInt8]) throws(KeyError) {
        let text = String(decoding: pem, as: UTF8.self)
        if text.contains("-----BEGIN ENCRYPTED PRIVATE KEY-----") { throw .encrypted }
        guard text.contains("-----BEGIN PRIVATE KEY-----") else { throw .notPKCS8PEM }
        guard let bio = BIO_new_mem_buf(pem, Int32(clamping: pem.count)) else { throw .damaged }
        defer {
            BIO_free(bio)
            ERR_clear_error()
        }
        // OpenSSL's own callback would ask for a passphrase on the terminal.
        guard let key = PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil) else {
            throw KeyError.Lines(of: text).map { .lines($0) } ?? .damaged
        }
        let handle = KeyHandle(owning: key)
        guard handle.isP256 else { throw .notP256 }
        self.init(handle: handle)
    }

    private init(handle: KeyHandle) { self.handle = handle }

    /// The key in `.p8` format. A secret: store it in a file of mode 0600, never log it.
    package var pkcs8PEM: [UInt8] { handle.pkcs8PEM }

    /// The public key, which verifies this key's signatures.
    package var publicKey: P256PublicKey { P256PublicKey(handle: handle) }

    /// The ES256 signature of `message`: R‖S, 64 bytes (RFC 7518, section 3.4). Each call's is
    /// different.
    package func signature(over message: [UInt8]) -> [UInt8] {
        ECDSASignature.raw(der: handle.signDER(message))
    }

    package var description: String { "P256PrivateKey" }
}
