import Glibc

/// An IP address and port in the kernel's format.
package struct SocketAddress: Sendable, CustomStringConvertible {
    private var storage: sockaddr_storage
    private var length: socklen_t

    init(copying address: UnsafePointer<sockaddr>, length: socklen_t) {
        storage = sockaddr_storage()
        self.length = min(length, socklen_t(MemoryLayout<sockaddr_storage>.size))
        withUnsafeMutableBytes(of: &storage) {
            $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: Int(self.length)))
        }
    }

    /// The address that `read` (for example accept or getsockname) fills in; nil if `read` fails.
    init?(_ read: (UnsafeMutablePointer<sockaddr>, inout socklen_t) -> Int32) {
        storage = sockaddr_storage()
        length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var filled = length
        let result = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { read($0, &filled) }
        }
        guard result >= 0 else { return nil }
        length = filled
    }

    func withSocketAddress<Value>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Value) -> Value {
        withUnsafePointer(to: storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }

    var family: Int32 { Int32(storage.ss_family) }

    /// The port; 0 if the address is neither IPv4 nor IPv6.
    package var port: Int {
        withSocketAddress { address, _ in
            let raw = UnsafeRawPointer(address)
            switch family {
            case AF_INET: return Int(UInt16(bigEndian: raw.load(as: sockaddr_in.self).sin_port))
            case AF_INET6: return Int(UInt16(bigEndian: raw.load(as: sockaddr_in6.self).sin6_port))
            default: return 0
            }
        }
    }

    /// The numeric address, without port and brackets. A mapped IPv4 address is shown as IPv4.
    package var host: String {
        let text = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
            withSocketAddress { address, length in
                let code = getnameinfo(
                    address, length, buffer.baseAddress, socklen_t(buffer.count), nil, 0,
                    NI_NUMERICHOST)
                guard code == 0, let base = buffer.baseAddress else { return "unknown" }
                return String(cString: base)
            }
        }
        return text.hasPrefix("::ffff:") && text.contains(".") ? String(text.dropFirst(7)) : text
    }

    /// The block of addresses that one client usually gets: an IPv4 address, or the first 64 bits
    /// of an IPv6 address (RFC 6177). `host` must come from `SocketAddress.host`.
    static func network(ofHost host: String) -> String {
        var address = in6_addr()
        guard inet_pton(AF_INET6, host, &address) == 1 else { return host }
        return withUnsafeBytes(of: address) { "\(Array($0.prefix(8)))" }
    }

    package var description: String {
        let host = host
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
