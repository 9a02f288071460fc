import COpenSSL
import Glibc
import TomboloLoop

/// Result of one step of a TLS session.
enum TLSStep {
    case done(Int)
    /// The socket must become readable first.
    case wantsRead
    /// The socket must become writable first.
    case wantsWrite
    /// The peer has ended its sending side.
    case ended
    case failed(String)
}

/// Owns an `SSL` on a non-blocking socket. It does not own the socket.
struct TLSSession: ~Copyable {
    private let pointer: OpaquePointer
    /// Retained because the handshake's ALPN callback reads it.
    private let context: TLSContext
    private let peerName: String

    init(server configuration: TLSServerConfiguration, descriptor: Int32) throws(TLSError) {
        let session = try Self.make(configuration.context, descriptor)
        SSL_set_accept_state(session)
        context = configuration.context
        pointer = session
        peerName = "the client"
    }

    /// Checks the certificate for the configuration's `serverName`, or else for `host` (RFC 6125:
    /// names in subjectAltName, no partial wildcards). SNI sends this name unless it is an address
    /// (RFC 6066, 3).
    init(client configuration: TLSClientConfiguration, host: String, descriptor: Int32)
        throws(TLSError)
    {
        let name = configuration.serverName ?? host
        let session = try Self.make(configuration.context, descriptor)
        guard Self.expect(name, session) else {
            SSL_free(session)
            throw TLSError("'\(name)' is not a host name for a certificate")
        }
        SSL_set_connect_state(session)
        context = configuration.context
        pointer = session
        peerName = name
    }

    private static func expect(_ name: String, _ session: OpaquePointer) -> Bool {
        if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(session), name) == 1 { return true }
        ERR_clear_error()
        SSL_set_hostflags(session, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
        return SSL_set1_host(session, name) == 1 && tombolo_set_server_name(session, name) == 1
    }

    deinit { SSL_free(pointer) }

    private static func make(
        _ context: TLSContext, _ descriptor: Int32
    ) throws(TLSError) -> OpaquePointer {
        ERR_clear_error()
        guard let session = SSL_new(context.pointer) else {
            throw TLSError("OpenSSL makes no session: \(takeOpenSSLReason())")
        }
        guard SSL_set_fd(session, descriptor) == 1 else {
            SSL_free(session)
            throw TLSError("OpenSSL takes no socket: \(takeOpenSSLReason())")
        }
        return session
    }

    /// The name that ALPN chose; nil if the peer did not use ALPN.
    var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(pointer, &name, &length)
        guard let name, length > 0 else { return nil }
        return String(
            decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    /// True if OpenSSL still holds input. epoll does not report this input.
    var hasPending: Bool { SSL_has_pending(pointer) == 1 }

    mutating func handshake() -> TLSStep {
        ERR_clear_error()
        return step(SSL_do_handshake(pointer))
    }

    mutating func read(into buffer: UnsafeMutableRawBufferPointer) -> TLSStep {
        ERR_clear_error()
        return step(SSL_read(pointer, buffer.baseAddress, Int32(clamping: buffer.count)))
    }

    /// Writes at most one record. After `wantsWrite`, the next call must begin with the same bytes.
    mutating func write(_ bytes: UnsafeRawBufferPointer) -> TLSStep {
        ERR_clear_error()
        return step(SSL_write(pointer, bytes.baseAddress, Int32(clamping: bytes.count)))
    }

    /// Sends close_notify if the socket accepts it; otherwise the peer sees only the end of TCP.
    mutating func sendCloseNotify() {
        ERR_clear_error()
        _ = SSL_shutdown(pointer)
        ERR_clear_error()
    }

    private func step(_ result: Int32) -> TLSStep {
        if result > 0 { return .done(Int(result)) }
        let code = errno
        switch SSL_get_error(pointer, result) {
        case SSL_ERROR_WANT_READ: return .wantsRead
        case SSL_ERROR_WANT_WRITE: return .wantsWrite
        case SSL_ERROR_ZERO_RETURN: return .ended
        case SSL_ERROR_SYSCALL where ERR_peek_error() == 0:
            return code == 0 ? .ended : .failed(systemErrorText(code))
        default: return .failed(reason())
        }
    }

    /// Failure text for a peer that sent something that is not TLS.
    static let clearText = "the other end does not speak TLS"

    /// Returns the failure as text. For a refused certificate it includes a remedy.
    private func reason() -> String {
        let code = ERR_GET_REASON(ERR_peek_last_error())
        if code == SSL_R_WRONG_VERSION_NUMBER || code == SSL_R_HTTP_REQUEST {
            ERR_clear_error()
            return Self.clearText
        }
        let verification = SSL_get_verify_result(pointer)
        guard verification != X509_V_OK else { return takeOpenSSLReason() }
        ERR_clear_error()
        let text = String(cString: X509_verify_cert_error_string(verification))
        let remedy =
            switch Int32(verification) {
            case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
                "connect by a name that it carries"
            case X509_V_ERR_CERT_HAS_EXPIRED, X509_V_ERR_CERT_NOT_YET_VALID:
                "renew it, or set the clock"
            default: "give the CA's file if it is a private one"
            }
        return "the certificate of \(peerName) is refused: \(text); \(remedy)"
    }
}
