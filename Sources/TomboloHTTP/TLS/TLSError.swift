import COpenSSL

/// A certificate, key or trust anchor that cannot be used. The message names which and what to do.
package struct TLSError: Error, Hashable, CustomStringConvertible {
    package let message: String

    package init(_ message: String) { self.message = message }

    package var description: String { message }
}

/// What OpenSSL's error queue of this thread says, newest reason first; the queue is empty
/// afterwards.
func takeOpenSSLReason() -> String {
    var reason = ""
    while true {
        let code = ERR_get_error()
        guard code != 0 else { break }
        guard let text = ERR_reason_error_string(code) else { continue }
        reason = reason.isEmpty ? String(cString: text) : reason
    }
    return reason.isEmpty ? "no reason given" : reason
}
