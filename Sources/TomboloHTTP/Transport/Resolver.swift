import Glibc
import Synchronization
import TomboloLoop

/// Resolves names by the system's rules (`/etc/hosts`, DNS) without blocking the loop.
enum Resolver {
    /// Maximum number of addresses tried for a name: a wrong DNS answer must not delay it for ever.
    static let addressesMax = 16

    /// Returns the addresses in the system's order of preference. A numeric address is returned at
    /// once. A name is looked up on a thread of its own, which ends by itself even if the caller
    /// has stopped waiting.
    static func addresses(
        of host: String, port: Int, on loop: any Loop, until deadline: MonotonicInstant
    ) async throws(ConnectionError) -> [SocketAddress] {
        guard (0...65_535).contains(port), (1...255).contains(host.utf8.count) else {
            throw ConnectionError(
                .unresolved, "'\(host)' port \(port) is not an address to connect to")
        }
        if case .success(let found) = lookUp(host, port, AI_NUMERICHOST) { return found }
        let lookup = Lookup(host: host, port: port, parking: Parking(loop))
        try lookup.start()
        switch await lookup.parking.park(until: deadline) {
        case .deadline:
            throw ConnectionError(.timedOut, "looking up '\(host)' took too long; see the DNS")
        case .cancelled: throw ConnectionError(.cancelled, "looking up '\(host)' was cancelled")
        case .signal: break
        }
        switch lookup.result.withLock({ $0 }) {
        case .success(let found)?: return found
        case .failure(let error)?: throw error
        case nil: throw ConnectionError(.unresolved, "looking up '\(host)' gave no result")
        }
    }

    /// Looks up addresses with `getaddrinfo`. May block, unless `flags` has AI_NUMERICHOST.
    static func lookUp(
        _ host: String, _ port: Int, _ flags: Int32
    ) -> Result<[SocketAddress], ConnectionError> {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = flags | AI_NUMERICSERV
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host, String(port), &hints, &list)
        guard code == 0 else {
            let text = String(cString: gai_strerror(code))
            return .failure(ConnectionError(.unresolved, "'\(host)' has no address: \(text)"))
        }
        defer { freeaddrinfo(list) }
        var found: [SocketAddress] = []
        var next = list
        while let entry = next, found.count < addressesMax {
            if let address = entry.pointee.ai_addr {
                found.append(SocketAddress(copying: address, length: entry.pointee.ai_addrlen))
            }
            next = entry.pointee.ai_next
        }
        return .success(found)
    }
}

/// One lookup. The thread and the waiting caller share it.
private final class Lookup: Sendable {
    let host: String
    let port: Int
    let parking: Parking
    let result = Mutex<Result<[SocketAddress], ConnectionError>?>(nil)

    init(host: String, port: Int, parking: Parking) {
        self.host = host
        self.port = port
        self.parking = parking
    }

    func start() throws(ConnectionError) {
        var thread = pthread_t()
        let this = Unmanaged.passRetained(self)
        let code = pthread_create(
            &thread, nil,
            { argument in
                let lookup = Unmanaged<Lookup>.fromOpaque(argument!).takeRetainedValue()
                let found = Resolver.lookUp(lookup.host, lookup.port, 0)
                lookup.result.withLock { $0 = found }
                lookup.parking.unpark()
                return nil
            }, this.toOpaque())
        guard code == 0 else {
            this.release()
            throw ConnectionError(.local, "no thread to look up '\(host)'", errno: code)
        }
        pthread_detach(thread)
    }
}
