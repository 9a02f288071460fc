import COpenSSL
import Glibc

/// A certificate authority for one run. The simulator and `dev` use it for TLS. Its key lives in
/// memory only. It signs server certificates for names and addresses (P-256, SHA-256). Clients that
/// get `certificate` trust these and no others. Do not use it for permanent installations.
package struct EphemeralCertificateAuthority: Sendable {
    /// Names by which a machine reaches itself.
    package static let localNames = ["localhost", "127.0.0.1", "::1"]
    /// Lifetime of a certificate; longer than any run.
    package static let lifetimeSeconds: Int64 = 30 * 86_400
    /// Certificates are valid from an hour before now, because clocks differ between machines.
    private static let earlierSeconds: Int64 = 3_600

    /// The authority's own certificate in PEM: the CA file of clients.
    package let certificate: [UInt8]

    private let issuer: Issuer

    /// A server's certificate and key in PEM.
    package struct ServerCredentials: Sendable {
        package let certificateChain: [UInt8]
        package let privateKey: [UInt8]
    }

    private final class Issuer: @unchecked Sendable {
        // Sendable: never changed after `init`; OpenSSL counts references under its own locks.
        let certificate: Certificate
        let key: PrivateKey

        init(certificate: Certificate, key: PrivateKey) {
            self.certificate = certificate
            self.key = key
        }
    }

    /// Makes the authority's key and certificate. `unixTime` is the time in seconds since 1970.
    package init(name: String = "Tombolo ephemeral CA", unixTime: Int64) throws(TLSError) {
        let key = try Self.makeKey()
        let certificate = try Self.make(name: name, key: key, unixTime: unixTime)
        let pointer = certificate.pointer
        try Self.add(NID_basic_constraints, "critical,CA:TRUE,pathlen:0", to: pointer, by: pointer)
        try Self.add(NID_key_usage, "critical,keyCertSign,cRLSign", to: pointer, by: pointer)
        try Self.add(NID_subject_key_identifier, "hash", to: pointer, by: pointer)
        try Self.sign(certificate, issuer: certificate, key: key)
        issuer = Issuer(certificate: certificate, key: key)
        self.certificate = try PEM.written { PEM_write_bio_X509($0, pointer) }
    }

    /// Makes a key and a certificate for `names`, at least one host name or numeric address.
    package func issueServer(
        names: [String] = localNames, unixTime: Int64
    ) throws(TLSError) -> ServerCredentials {
        guard let first = names.first else { throw TLSError("a certificate needs a name") }
        let key = try Self.makeKey()
        let made = try Self.make(name: first, key: key, unixTime: unixTime)
        let ca = issuer.certificate.pointer
        let alternatives = try names.map { name throws(TLSError) in try Self.alternative(name) }
        for (extensionID, value) in [
            (NID_basic_constraints, "critical,CA:FALSE"),
            (NID_key_usage, "critical,digitalSignature"),
            (NID_ext_key_usage, "serverAuth"),
            (NID_subject_key_identifier, "hash"),
            (NID_authority_key_identifier, "keyid"),
            (NID_subject_alt_name, alternatives.joined(separator: ",")),
        ] {
            try Self.add(extensionID, value, to: made.pointer, by: ca)
        }
        try Self.sign(made, issuer: issuer.certificate, key: issuer.key)
        return ServerCredentials(
            certificateChain: try PEM.written { PEM_write_bio_X509($0, made.pointer) },
            privateKey: try PEM.written {
                PEM_write_bio_PrivateKey($0, key.pointer, nil, nil, 0, nil, nil)
            })
    }

    private static func alternative(_ name: String) throws(TLSError) -> String {
        let isNumeric: Bool
        if case .success = Resolver.lookUp(name, 0, AI_NUMERICHOST) {
            isNumeric = true
        } else {
            isNumeric = false
        }
        // OpenSSL parses the value as configuration syntax, so a name must not contain its special
        // characters.
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"),
                UInt8(ascii: "*"):
                true
            default: false
            }
        }
        guard isNumeric || (isPlain && (1...255).contains(name.utf8.count)) else {
            throw TLSError("'\(name)' is neither a host name nor an address")
        }
        return (isNumeric ? "IP:" : "DNS:") + name
    }

    private static func makeKey() throws(TLSError) -> PrivateKey {
        ERR_clear_error()
        guard let key = tombolo_make_p256_key() else {
            throw TLSError("OpenSSL makes no key: \(takeOpenSSLReason())")
        }
        return PrivateKey(key)
    }

    private static func make(
        name: String, key: PrivateKey, unixTime: Int64
    ) throws(TLSError) -> Certificate {
        guard let pointer = X509_new() else { throw TLSError("out of memory") }
        let certificate = Certificate(pointer)
        var serial: UInt64 = 0
        let subject = X509_get_subject_name(pointer)
        let common = Array(name.utf8.prefix(64))
        guard X509_set_version(pointer, 2) == 1,
            withUnsafeMutableBytes(
                of: &serial,
                { RAND_bytes($0.baseAddress?.assumingMemoryBound(to: UInt8.self), 8) }) == 1,
            ASN1_INTEGER_set_uint64(X509_get_serialNumber(pointer), serial >> 1 | 1) == 1,
            ASN1_TIME_set(X509_getm_notBefore(pointer), time_t(unixTime - earlierSeconds)) != nil,
            ASN1_TIME_set(X509_getm_notAfter(pointer), time_t(unixTime + lifetimeSeconds)) != nil,
            X509_NAME_add_entry_by_txt(
                subject, "CN", MBSTRING_UTF8, common, Int32(common.count), -1, 0) == 1,
            X509_set_pubkey(pointer, key.pointer) == 1
        else { throw TLSError("a certificate cannot be made: \(takeOpenSSLReason())") }
        return certificate
    }

    private static func add(
        _ extensionID: Int32, _ value: String, to subject: OpaquePointer, by issuer: OpaquePointer
    ) throws(TLSError) {
        var context = X509V3_CTX()
        tombolo_extension_context(&context, issuer, subject)
        guard let made = X509V3_EXT_conf_nid(nil, &context, extensionID, value) else {
            throw TLSError("a certificate cannot carry '\(value)': \(takeOpenSSLReason())")
        }
        defer { X509_EXTENSION_free(made) }
        guard X509_add_ext(subject, made, -1) == 1 else {
            throw TLSError("a certificate cannot carry '\(value)': \(takeOpenSSLReason())")
        }
    }

    private static func sign(
        _ certificate: Certificate, issuer: Certificate, key: PrivateKey
    ) throws(TLSError) {
        let name = X509_get_subject_name(issuer.pointer)
        guard X509_set_issuer_name(certificate.pointer, name) == 1,
            X509_sign(certificate.pointer, key.pointer, EVP_sha256()) > 0
        else { throw TLSError("a certificate cannot be signed: \(takeOpenSSLReason())") }
    }
}
