import COpenSSL

/// An unusable certificate, key or trust anchor. The message names it and the remedy.
package struct TLSError: Error, Hashable, CustomStringConvertible {
    package let message: String

    package init(_ message: String) { self.message = message }

    package var description: String { message }
}

/// Returns the first reason in OpenSSL's error queue of this thread, and clears the queue.
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
