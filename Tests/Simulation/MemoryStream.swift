import TestSupport
import TomboloHTTP
import TomboloLoop

/// One end of a connection in memory: what its owner writes in a turn arrives at the other end a
/// little later, in order, or never.
final class MemoryStream: ByteStream, TurnTarget {
    let peerDescription: String
    let applicationProtocol: String? = "h2"
    private(set) var sentBytes: UInt64 = 0
    /// The kernel takes everything.
    let unsentBytes = 0

    private unowned let world: World
    private var owner: (any ByteStreamOwner)?
    private var peer: MemoryStream?
    private let output = OutputBuffer()
    private var arrived: [[UInt8]] = []
    private var lastArrival = MonotonicInstant(nanoseconds: 0)
    private var isTurnDue = false
    private var isPaused = false
    private var isClosing = false
    private var isAborted = false

    private init(_ world: World, _ name: String) {
        self.world = world
        peerDescription = name
    }

    /// Both ends.
    static func pair(_ world: World) -> (client: MemoryStream, server: MemoryStream) {
        let client = MemoryStream(world, "apple")
        let server = MemoryStream(world, "the relay")
        client.peer = server
        server.peer = client
        return (client, server)
    }

    func belongs(to owner: any ByteStreamOwner) { self.owner = owner }

    // MARK: The owner's face

    func wantsOutput() {
        guard owner != nil, !isTurnDue else { return }
        isTurnDue = true
        world.loop.atEndOfTurn(self)
    }

    func pauseReading() { isPaused = true }

    func resumeReading() {
        isPaused = false
        if !arrived.isEmpty { wantsOutput() }
    }

    func close() {
        isClosing = true
        wantsOutput()
    }

    func abort() {
        isAborted = true
        wantsOutput()
    }

    func turnEnded() {
        isTurnDue = false
        guard owner != nil else { return }
        guard !isAborted else {
            let peer = peer
            end(nil)
            arrive(at: peer) { $0.end(ConnectionError(.reset, "reset by the peer")) }
            return
        }
        while !isPaused, !arrived.isEmpty, owner != nil { receive(arrived.removeFirst()) }
        flush()
        guard isClosing, !isAborted, owner != nil else { return }
        let peer = peer
        arrive(at: peer) { $0.owner?.inputEnded() }
        end(nil)
    }

    private func flush() {
        var bytes: [UInt8] = []
        while let owner {
            owner.fillOutput(output)
            guard !output.isEmpty else { break }
            while !output.isEmpty {
                bytes += output.record
                output.consume(output.record.count)
            }
        }
        guard !bytes.isEmpty else { return }
        sentBytes += UInt64(bytes.count)
        let chunk = bytes
        arrive(at: peer) { $0.take(chunk) }
    }

    // MARK: The network

    /// After what was sent before.
    private func arrive(at peer: MemoryStream?, _ body: @escaping (MemoryStream) -> Void) {
        guard let peer else { return }
        let soon = world.loop.now + world.dice.time(.network, 1...40)
        lastArrival = max(soon, lastArrival + .microseconds(1))
        _ = world.loop.schedule(at: lastArrival, Call { body(peer) })
    }

    private func take(_ bytes: [UInt8]) {
        guard owner != nil, !isAborted else { return }
        if isPaused || !arrived.isEmpty { arrived.append(bytes) } else { receive(bytes) }
    }

    private func receive(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { owner?.received($0) }
    }

    /// The connection is gone, and what was on its way with it.
    func cut() {
        let peer = peer
        end(ConnectionError(.reset, "the connection broke"))
        peer?.end(ConnectionError(.reset, "the connection broke"))
    }

    private func end(_ error: ConnectionError?) {
        let owner = owner
        self.owner = nil
        peer = nil
        owner?.closed(error)
    }
}
