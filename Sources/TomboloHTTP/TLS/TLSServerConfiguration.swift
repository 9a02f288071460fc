import COpenSSL
import Glibc

/// A server's certificate, key and ALPN names, checked once; cheap to copy, shared by all
/// connections.
package struct TLSServerConfiguration: Sendable {
    let context: TLSContext

    /// Answer for a client that speaks clear text instead of TLS; if empty, no answer is sent.
    var clearTextAnswer: [UInt8] = []

    /// The chain in PEM. Compare it to see whether a certificate was renewed.
    package let certificateChain: [UInt8]

    /// The period in which clients accept the chain, in Unix seconds: from the latest start to the
    /// earliest end of its certificates (RFC 5280, 4.1.2.5), both inclusive. If the certificates'
    /// periods do not overlap, the range holds only the earliest end.
    package let validity: ClosedRange<Int64>

    /// `certificateChain`: PEM, the server's own certificate first, then the intermediate ones.
    /// `privateKey`: PEM without a pass phrase. Throws if one cannot be read or they do not match.
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
        let begins = chain.map { Self.seconds(X509_get0_notBefore($0.pointer)) }.max() ?? .min
        let ends = chain.map { Self.seconds(X509_get0_notAfter($0.pointer)) }.min() ?? .max
        self.certificateChain = certificateChain
        validity = min(begins, ends)...ends
    }

    /// Returns Unix seconds. A time that OpenSSL cannot parse counts as long past: no client
    /// accepts such a certificate.
    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        var parts = tm()
        guard ASN1_TIME_to_tm(time, &parts) == 1 else { return .min }
        return Int64(timegm(&parts))
    }
}
