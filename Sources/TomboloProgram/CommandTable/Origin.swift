/// The address of a relay or a simulator: scheme, host and port.
package struct Origin: Hashable, Sendable, CustomStringConvertible {
    enum Scheme: String, Hashable, Sendable {
        case http, https
        var defaultPort: UInt16 { self == .http ? 80 : 443 }
    }

    let scheme: Scheme
    /// An IPv6 address has no brackets here.
    let host: String
    let port: UInt16

    init(scheme: Scheme, host: String, port: UInt16) {
        (self.scheme, self.host, self.port) = (scheme, host, port)
    }

    /// Guesses the intended origin if the scheme is missing or in capitals, or if there is a path
    /// or white space.
    static func near(_ text: String) -> Origin? {
        var rest = text.filter { !$0.isWhitespace }[...]
        let isSecure = rest.lowercased().hasPrefix("https://")
        if isSecure || rest.lowercased().hasPrefix("http://") {
            rest = rest.dropFirst(isSecure ? 8 : 7)
        }
        let authority = rest.prefix { $0 != "/" }
        return Origin("\(isSecure ? "https" : "http")://\(authority)")
    }

    /// Reads `https://relay.example:8443`, with at most one slash at its end. Nil for other texts,
    /// because a path or a user name would otherwise be ignored silently.
    init?(_ text: String) {
        var rest = text[...]
        if rest.hasPrefix("https://") {
            scheme = .https
            rest = rest.dropFirst(8)
        } else if rest.hasPrefix("http://") {
            scheme = .http
            rest = rest.dropFirst(7)
        } else {
            return nil
        }
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        if let address = SocketAddressText(String(rest)) {
            guard address.port > 0 else { return nil }
            host = address.host
            port = address.port
        } else {
            guard let address = SocketAddressText("\(rest):1") else { return nil }
            host = address.host
            port = scheme.defaultPort
        }
    }

    /// `host:port` as in the `:authority` header.
    var authority: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    package var description: String { "\(scheme.rawValue)://\(authority)" }
}
