/// The relay's address: an origin (RFC 6454), without a path.
struct RelayOrigin: Hashable, Sendable {
    let isSecure: Bool
    /// A name or a numeric address. An IPv6 address has no brackets here.
    let host: String
    let port: Int
    let authority: String

    init(_ text: String) throws(SimulatorError) {
        let wrong = SimulatorError(
            "\"\(text)\" is not the origin of a relay; write it like http://127.0.0.1:8780")
        let isSecure = text.hasPrefix("https://")
        guard isSecure || text.hasPrefix("http://") else { throw wrong }
        var rest = text.dropFirst(isSecure ? 8 : 7)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.isEmpty, !rest.contains(where: { "/?#@ ".contains($0) }) else { throw wrong }
        var host = rest
        var port = isSecure ? 443 : 80
        let afterBracket = rest.lastIndex(of: "]").map { rest.index(after: $0) } ?? rest.startIndex
        if let colon = rest[afterBracket...].lastIndex(of: ":") {
            guard let number = Int(rest[rest.index(after: colon)...]), (1...65_535).contains(number)
            else { throw wrong }
            port = number
            host = rest[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") { host = host.dropFirst().dropLast() }
        guard !host.isEmpty else { throw wrong }
        self.isSecure = isSecure
        self.host = String(host)
        self.port = port
        authority = String(rest)
    }
}
