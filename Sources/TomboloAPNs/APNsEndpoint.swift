package import TomboloCore
import TomboloJSON

/// The endpoint of pushes: Apple's, or a simulator's.
package struct APNsEndpoint: Hashable, Sendable, CustomStringConvertible {
    /// True for TLS; false for HTTP/2 in clear text by prior knowledge, for simulators only.
    package let isSecure: Bool
    /// A name or an address. An IPv6 address has no brackets here.
    package let host: String
    package let port: UInt16

    /// Apple's endpoint of an environment (*Sending notification requests to APNs*).
    package static func apple(_ environment: APNsEnvironment) -> APNsEndpoint {
        switch environment {
        case .production: APNsEndpoint(isSecure: true, host: "api.push.apple.com", port: 443)
        case .sandbox: APNsEndpoint(isSecure: true, host: "api.sandbox.push.apple.com", port: 443)
        }
    }

    /// Apple's endpoint for managing the broadcast channels of an environment (*Sending channel
    /// management requests to APNs*).
    package static func appleChannels(_ environment: APNsEnvironment) -> APNsEndpoint {
        switch environment {
        case .production:
            APNsEndpoint(
                isSecure: true, host: "api-manage-broadcast.push.apple.com", port: 2196)
        case .sandbox:
            APNsEndpoint(
                isSecure: true, host: "api-manage-broadcast.sandbox.push.apple.com", port: 2195)
        }
    }

    /// Parses `https://HOST[:PORT]` or `http://HOST[:PORT]`, with IPv6 addresses in brackets.
    ///
    /// The default port is 443 or 80. A path, a query or user information is refused.
    package init(url: String) throws(APNsConfigurationError) {
        let secure = url.hasPrefix("https://")
        guard secure || url.hasPrefix("http://") else { throw .endpoint(url) }
        var rest = url.dropFirst(secure ? 8 : 7)
        if rest.hasSuffix("/") { rest.removeLast() }
        let host: Substring
        if rest.hasPrefix("["), let bracket = rest.firstIndex(of: "]") {
            host = rest[rest.index(after: rest.startIndex)..<bracket]
            guard host.utf8.contains(UInt8(ascii: ":")) else { throw .endpoint(url) }
            rest = rest[rest.index(after: bracket)...]
        } else {
            host = rest.prefix { $0 != ":" }
            rest = rest.dropFirst(host.count)
        }
        guard !host.isEmpty, host.utf8.allSatisfy(Self.isOfHost) else { throw .endpoint(url) }
        if rest.isEmpty {
            port = secure ? 443 : 80
        } else if rest.utf8.dropFirst().allSatisfy({ (0x30...0x39).contains($0) }),
            rest.hasPrefix(":"), let number = UInt16(rest.dropFirst()), number > 0
        {
            port = number
        } else {
            throw .endpoint(url)
        }
        isSecure = secure
        self.host = String(host)
    }

    private init(isSecure: Bool, host: String, port: UInt16) {
        self.isSecure = isSecure
        self.host = host
        self.port = port
    }

    /// True if this is Apple's own endpoint.
    package var isApple: Bool { host == "push.apple.com" || host.hasSuffix(".push.apple.com") }

    /// Value of `:authority`, without the scheme's default port (RFC 9110, section 4.2.3).
    package var authority: String {
        let name = host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
        return port == (isSecure ? 443 : 80) ? name : "\(name):\(port)"
    }

    /// `HOST:PORT`, for operators.
    package var description: String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    private static func isOfHost(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || ".-_:".utf8.contains(byte)
    }
}
