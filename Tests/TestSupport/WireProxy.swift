import Glibc
import Synchronization

/// A proxy between a PostgreSQL client and its server, which stops at a message of the
/// client's ("Frontend/Backend Protocol", 55.7): a byte of type, four of length, the rest. Without
/// TLS.
///
/// ```swift
/// let proxy = try WireProxy(to: 5432)
/// proxy.stop(after: 3)          // three messages of the client pass
/// _ = await proxy.waitUntilStopped()  // … and the fourth does not
/// proxy.end(.cut)
/// ```
package final class WireProxy: @unchecked Sendable {
    // Sendable: all that changes is a lock's.

    /// What becomes of the connection that was stopped; later ones are passed on whole.
    package enum End {
        case goOn
        /// Both ends are closed.
        case cut
        /// Nothing more comes, and neither end is closed.
        case silent
    }

    private struct State {
        /// How many messages may pass; nil: all.
        var left: Int?
        /// Half of the message that does not pass any more does.
        var passesHalf = false
        /// The last of them is `Sync`, and no answer to it passes.
        var keepsAnswers = false
        /// The connection whose answers do not pass.
        var keeper: Link?
        var isStopped = false
        var end: End?
        /// Messages since the newest `Sync`, and up to it.
        var (count, lastCount) = (0, 0)
    }

    private let listener: Int32
    private let server: UInt16
    package let port: UInt16
    private let state = Mutex(State())

    /// Listens on loopback, for a server there.
    package init(to server: UInt16) throws {
        self.server = server
        listener = Self.keepFromChildren(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        let listener = listener
        var (address, length) = (Self.loopback(0), socklen_t(MemoryLayout<sockaddr_in>.size))
        let isBound = Self.with(&address) {
            bind(listener, $0, length) == 0 && listen(listener, 16) == 0
                && getsockname(listener, $0, &length) == 0
        }
        precondition(isBound, "loopback has a port")
        port = UInt16(bigEndian: address.sin_port)
        Self.thread { [weak self] in
            while true {
                let client = accept(listener, nil, nil)
                guard client >= 0, let self else { return }
                self.join(client)
            }
        }
    }

    deinit {
        shutdown(listener, Int32(SHUT_RDWR))
        close(listener)
    }

    /// The messages of the newest pipeline, its `Sync` included.
    package var lastCount: Int { state.withLock { $0.lastCount } }

    /// The next connection that says anything stops after so many messages, or within the one after
    /// them; or all of them pass, and no answer to the last one.
    package func stop(after count: Int, half: Bool = false, keepsAnswers: Bool = false) {
        state.withLock {
            ($0.left, $0.passesHalf, $0.keepsAnswers) = (count, half, keepsAnswers)
            ($0.isStopped, $0.end, $0.keeper) = (false, nil, nil)
        }
    }

    /// False if it did not stop within a minute. It yields its thread: what makes it stop may wait
    /// for one, where many tests run.
    package func waitUntilStopped() async -> Bool {
        for _ in 0..<60_000 where !state.withLock({ $0.isStopped }) {
            await Task.yield()
            poll(nil, 0, 1)
        }
        return state.withLock { $0.isStopped }
    }

    /// From now on all passes, but for the connection that was stopped.
    package func end(_ end: End) {
        state.withLock {
            $0.end = end
            $0.left = nil
        }
    }

    private static func loopback(_ port: UInt16) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return address
    }

    private static func with<Answer>(
        _ address: inout sockaddr_in, _ body: (UnsafeMutablePointer<sockaddr>) -> Answer
    ) -> Answer {
        withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1, body)
        }
    }

    private final class Body {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    private static func thread(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            {
                $0.map { Unmanaged<Body>.fromOpaque($0).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(Body(body)).toOpaque())
        pthread_detach(thread)
    }

    // MARK: One connection

    /// Both ends of a connection. They are closed when neither of its threads uses them any more.
    private final class Link: Sendable {
        let client: Int32
        let server: Int32

        init(client: Int32, server: Int32) {
            (self.client, self.server) = (client, server)
        }

        func shutDown() {
            for end in [client, server] { shutdown(end, Int32(SHUT_RDWR)) }
        }

        deinit {
            for end in [client, server] { close(end) }
        }
    }

    /// A server that the test starts must not inherit it.
    private static func keepFromChildren(_ descriptor: Int32) -> Int32 {
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    private func join(_ client: Int32) {
        let server = Self.keepFromChildren(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
        let link = Link(client: Self.keepFromChildren(client), server: server)
        var address = Self.loopback(self.server)
        let isThere = Self.with(&address) {
            connect(server, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
        guard isThere else { return }
        Self.thread { [weak self] in
            var buffer: [UInt8] = []
            var isFirst = true
            while let self, Self.fill(&buffer, from: link.client) {
                while let size = Self.size(buffer, isFirst: isFirst) {
                    let message = Array(buffer[..<size])
                    buffer.removeFirst(size)
                    guard self.pass(message, on: link, isFirst: isFirst) else { return }
                    isFirst = false
                }
            }
            link.shutDown()
        }
        Self.thread { [weak self] in
            var buffer: [UInt8] = []
            while let self, Self.fill(&buffer, from: link.server) {
                if self.state.withLock({ $0.keeper === link }), self.waitForEnd() != .goOn {
                    return self.leave(link)
                }
                Self.send(buffer, to: link.client)
                buffer = []
            }
            link.shutDown()
        }
    }

    private func waitForEnd() -> End {
        while true {
            if let end = state.withLock({ $0.end }) { return end }
            poll(nil, 0, 1)
        }
    }

    private func leave(_ link: Link) {
        if waitForEnd() == .cut { link.shutDown() }
    }

    /// Passes a message on. False where the connection is not used any more.
    private func pass(_ message: [UInt8], on link: Link, isFirst: Bool) -> Bool {
        let half: Bool? = state.withLock { state in
            let isSync = message[0] == UInt8(ascii: "S")
            guard !isFirst else { return nil }
            state.count += 1
            if isSync { (state.lastCount, state.count) = (state.count, 0) }
            guard let left = state.left, !state.isStopped else { return nil }
            state.left = left - 1
            if state.keepsAnswers {
                guard left <= 1, isSync else { return nil }
                (state.keeper, state.isStopped) = (link, true)
                return nil
            }
            state.isStopped = left <= 0
            return state.isStopped ? state.passesHalf : nil
        }
        guard let half else {
            Self.send(message, to: link.server)
            return true
        }
        let sent = half ? message.count / 2 : 0
        Self.send(Array(message[..<sent]), to: link.server)
        guard waitForEnd() == .goOn else {
            leave(link)
            return false
        }
        Self.send(Array(message[sent...]), to: link.server)
        return true
    }

    private static func size(_ buffer: [UInt8], isFirst: Bool) -> Int? {
        let start = isFirst ? 0 : 1
        guard buffer.count >= start + 4 else { return nil }
        let size = buffer[start..<start + 4].reduce(0) { $0 << 8 | Int($1) } + start
        return buffer.count >= size ? size : nil
    }

    private static func fill(_ buffer: inout [UInt8], from socket: Int32) -> Bool {
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = read(socket, &piece, piece.count)
        guard count > 0 else { return false }
        buffer += piece[..<count]
        return true
    }

    private static func send(_ bytes: [UInt8], to socket: Int32) {
        var left = bytes[...]
        while !left.isEmpty {
            let count = left.withUnsafeBytes {
                Glibc.send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { return }
            left = left.dropFirst(count)
        }
    }
}
