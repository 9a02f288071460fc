import Glibc

@testable import TomboloHTTP

/// A port that hangs: it listens and takes nobody, and those who fill its queue wait before whoever
/// comes. The kernel drops their SYNs, as a firewall would.
struct DeafPort: ~Copyable {
    let address: SocketAddress
    private let descriptors: [Int32]

    init() {
        let listener = Self.socket()
        let anyPort = Self.loopback(port: 0)
        _ = Self.with(anyPort) { bind(listener, $0, $1) }
        listen(listener, 0)
        var bound = anyPort
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        withUnsafeMutablePointer(to: &bound) {
            _ = $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                getsockname(listener, $0, &length)
            }
        }
        address = Self.with(bound) { SocketAddress(copying: $0, length: $1) }
        descriptors =
            [listener]
            + (0..<4).map { _ in
                let waiting = Self.socket()
                _ = Self.with(bound) { connect(waiting, $0, $1) }
                return waiting
            }
    }

    deinit { for descriptor in descriptors { close(descriptor) } }

    private static func loopback(port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    private static func socket() -> Int32 {
        Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    }

    private static func with<Value>(
        _ address: sockaddr_in, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Value
    ) -> Value {
        withUnsafePointer(to: address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}
