import COpenSSL

/// Owns an `SSL_CTX`, which all sessions of one configuration share.
final class TLSContext: @unchecked Sendable {
    // Sendable: configured before it is shared; OpenSSL locks the parts that sessions use.

    /// Read buffer of a client session: several records at once.
    private static let clientReadBytes = 65_536

    /// Cipher suites of TLS 1.2. None is prohibited in HTTP/2 (RFC 9113, 9.2.2 and appendix A). TLS
    /// 1.3 has no prohibited ones.
    private static let ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20:!aNULL"

    /// The groups for the key exchange. OpenSSL's own list has finite fields of up to 8,192 bits
    /// too: one hello that asks for such a group costs the loop 100 ms, and the client nothing.
    private static let groups = "X25519:P-256:P-384"

    let pointer: OpaquePointer
    /// The ALPN names a server takes, in its order of preference, in wire form.
    private let serverProtocols: [UInt8]

    /// TLS 1.2 or newer (RFC 8996 forbids older), no renegotiation, no compression, no session
    /// cache. A server frees a session's buffers while the session is idle, because it may have
    /// 10,000 idle connections. A client has few but busy connections: it keeps the buffers and
    /// reads several records at once.
    init(server: Bool, serverProtocols: [String] = []) throws(TLSError) {
        ERR_clear_error()
        guard let context = SSL_CTX_new(server ? TLS_server_method() : TLS_client_method()) else {
            throw TLSError("OpenSSL makes no context: \(takeOpenSSLReason())")
        }
        pointer = context
        self.serverProtocols = try Self.wireForm(serverProtocols)
        guard tombolo_ctx_min_tls12(context) == 1 else {
            throw TLSError("OpenSSL refuses TLS 1.2 as the least: \(takeOpenSSLReason())")
        }
        guard SSL_CTX_set_cipher_list(context, Self.ciphers) == 1 else {
            throw TLSError("OpenSSL lacks the ciphers of TLS 1.2: \(takeOpenSSLReason())")
        }
        guard tombolo_ctx_set_groups(context, Self.groups) == 1 else {
            throw TLSError("OpenSSL lacks the groups \(Self.groups): \(takeOpenSSLReason())")
        }
        tombolo_ctx_strict_options(context)
        var mode = SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
        if server { mode |= SSL_MODE_RELEASE_BUFFERS }
        _ = tombolo_ctx_set_mode(context, Int(mode))
        if !server {
            tombolo_ctx_read_ahead(context)
            SSL_CTX_set_default_read_buffer_len(context, Self.clientReadBytes)
        }
        _ = tombolo_ctx_no_session_cache(context)
        if server { selectByServerPreference() }
    }

    deinit { SSL_CTX_free(pointer) }

    /// Returns the ALPN names, each preceded by its length in one byte (RFC 7301, 3.1).
    static func wireForm(_ protocols: [String]) throws(TLSError) -> [UInt8] {
        var bytes: [UInt8] = []
        for name in protocols {
            guard (1...255).contains(name.utf8.count) else {
                throw TLSError("an ALPN name has 1 to 255 bytes, unlike '\(name)'")
            }
            bytes.append(UInt8(name.utf8.count))
            bytes.append(contentsOf: name.utf8)
        }
        return bytes
    }

    /// Selects the first ALPN name of the server's list that the client offers. If there is none,
    /// the handshake fails (RFC 7301, 3.2). A client without ALPN is accepted.
    private func selectByServerPreference() {
        SSL_CTX_set_alpn_select_cb(
            pointer,
            { _, chosen, chosenLength, offered, offeredLength, argument in
                let context = Unmanaged<TLSContext>.fromOpaque(argument!).takeUnretainedValue()
                var selected: UnsafeMutablePointer<UInt8>?
                var length: UInt8 = 0
                let result = context.serverProtocols.withUnsafeBufferPointer { own in
                    SSL_select_next_proto(
                        &selected, &length, own.baseAddress, UInt32(own.count), offered,
                        offeredLength)
                }
                guard result == OPENSSL_NPN_NEGOTIATED, let selected else {
                    return SSL_TLSEXT_ERR_ALERT_FATAL
                }
                // `selected` points into the server's list or the client's; both outlive the call.
                chosen!.pointee = UnsafePointer(selected)
                chosenLength!.pointee = length
                return SSL_TLSEXT_ERR_OK
            }, Unmanaged.passUnretained(self).toOpaque())
    }
}
