import COpenSSL

/// A server's certificate, key and ALPN names, checked once; cheap to copy, shared by all
/// connections.
package struct TLSServerConfiguration: Sendable {
    let context: TLSContext

    /// `certificateChain`: PEM, the server's own certificate first, then the intermediate ones.
    /// `privateKey`: PEM without a pass phrase. Throws where one cannot be read or they do not
    /// belong together.
    package init(
        certificateChain: [UInt8], privateKey: [UInt8],
        applicationProtocols: [String] = ["h2", "http/1.1"]
    ) throws(TLSError) {
        context = try TLSContext(server: true, serverProtocols: applicationProtocols)
        let chain = try PEM.certificates(certificateChain, what: "the certificate chain")
        let key = try PEM.privateKey(privateKey, what: "the key file")
        guard SSL_CTX_use_certificate(context.pointer, chain[0].pointer) == 1 else {
            throw TLSError("the certificate cannot be used: \(takeOpenSSLReason())")
        }
        for certificate in chain.dropFirst() {
            guard tombolo_ctx_add_chain_certificate(context.pointer, certificate.pointer) == 1
            else { throw TLSError("the chain cannot be used: \(takeOpenSSLReason())") }
        }
        guard SSL_CTX_use_PrivateKey(context.pointer, key.pointer) == 1,
            SSL_CTX_check_private_key(context.pointer) == 1
        else {
            throw TLSError(
                "certificate and private key do not belong together (\(takeOpenSSLReason()))")
        }
    }
}
