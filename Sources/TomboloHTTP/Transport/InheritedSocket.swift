import Glibc

/// A listening TCP socket that a service manager has bound and handed over.
///
/// The server listens on its address, even if the configuration names another one.
package struct InheritedSocket: Hashable, Sendable {
    package let descriptor: Int32
    package let address: ListenAddress

    /// Takes over the descriptor and makes it non-blocking and close-on-exec. Throws if it is not a
    /// listening TCP socket.
    package init(descriptor: Int32) throws(ConnectionError) {
        func refusal(_ what: String) -> ConnectionError {
            ConnectionError(.local, "descriptor \(descriptor) \(what)")
        }
        guard let bound = SocketAddress({ getsockname(descriptor, $0, &$1) }) else {
            throw ConnectionError(
                .local, "descriptor \(descriptor) cannot be listened on", errno: errno)
        }
        guard bound.family == AF_INET || bound.family == AF_INET6,
            Self.option(descriptor, SO_TYPE) == Int32(SOCK_STREAM.rawValue)
        else { throw refusal("is no TCP socket") }
        guard Self.option(descriptor, SO_ACCEPTCONN) == 1 else {
            throw refusal("is a socket that does not listen")
        }
        guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0,
            fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0
        else {
            throw ConnectionError(
                .local, "descriptor \(descriptor) cannot be listened on", errno: errno)
        }
        self.descriptor = descriptor
        address = ListenAddress(host: bound.host, port: bound.port)
    }

    private static func option(_ descriptor: Int32, _ name: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 else { return nil }
        return value
    }
}
