import COpenSSL

/// A client's trusted authorities and ALPN names. Checked once, cheap to copy, shared by all
/// connections.
package struct TLSClientConfiguration: Sendable {
    /// The trusted authorities.
    package enum Trust: Hashable, Sendable {
        /// The system's authorities (Debian: package ca-certificates).
        case system
        /// Only these certificates, in PEM.
        case certificates([UInt8])
        /// Anybody: the certificate is not checked. Only for a question to this machine that
        /// carries no secret, such as a supervisor's whether the relay runs.
        case anybody
    }

    let context: TLSContext

    /// The name that the certificate must contain and that SNI sends; nil means the host to which
    /// the client connects.
    package let serverName: String?

    /// Makes a configuration. The peer's chain must lead to a trusted certificate and contain the
    /// server's name, unless it trusts anybody. Throws if a certificate cannot be read.
    package init(
        trust: Trust = .system, serverName: String? = nil, applicationProtocols: [String] = ["h2"]
    ) throws(TLSError) {
        self.serverName = serverName
        context = try TLSContext(server: false)
        let protocols = try TLSContext.wireForm(applicationProtocols)
        if !protocols.isEmpty,
            SSL_CTX_set_alpn_protos(context.pointer, protocols, UInt32(protocols.count)) != 0
        {
            throw TLSError("ALPN cannot be set: \(takeOpenSSLReason())")
        }
        SSL_CTX_set_verify(
            context.pointer, trust == .anybody ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nil)
        switch trust {
        case .anybody: break
        case .system:
            guard SSL_CTX_set_default_verify_paths(context.pointer) == 1 else {
                throw TLSError("the system's authorities cannot be read; install ca-certificates")
            }
        case .certificates(let bytes):
            let store = SSL_CTX_get_cert_store(context.pointer)
            for certificate in try PEM.certificates(bytes, what: "the CA file") {
                guard X509_STORE_add_cert(store, certificate.pointer) == 1 else {
                    throw TLSError("the CA file cannot be used: \(takeOpenSSLReason())")
                }
            }
        }
    }
}
