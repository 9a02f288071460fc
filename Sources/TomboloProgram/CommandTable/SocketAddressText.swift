import TomboloJSON

/// `HOST:PORT`, with IPv6 addresses in brackets. The host is not looked up.
struct SocketAddressText: Hashable, Sendable, CustomStringConvertible {
    let host: String
    let port: UInt16

    init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":"),
            let port = UInt16(text[text.index(after: colon)...]),
            text[text.index(after: colon)...].utf8.allSatisfy({ (48...57).contains($0) })
        else { return nil }
        var host = text[..<colon]
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.utf8.allSatisfy(Self.isIPv6) else { return nil }
        } else {
            guard host.utf8.allSatisfy(Self.isName) else { return nil }
        }
        guard !host.isEmpty, host.utf8.count <= 253 else { return nil }
        self.host = String(host)
        self.port = port
    }

    /// True if only this machine can reach the address. False for all names except `localhost`.
    var isLoopback: Bool { host == "localhost" || host == "::1" || Self.isLoopbackIPv4(host) }

    var description: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    private static func isLoopbackIPv4(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts.allSatisfy { UInt8($0) != nil } && parts[0] == "127"
    }

    private static func isName(_ byte: UInt8) -> Bool {
        byte.isAlphanumeric || ".-_".utf8.contains(byte)
    }

    private static func isIPv6(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "f"), UInt8(ascii: "A")...UInt8(ascii: "F"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: ":"), UInt8(ascii: "."):
            true
        default: false
        }
    }
}
