import TomboloHTTP
import TomboloLoop

/// An authority, and configurations that belong together.
struct TestAuthority: Sendable {
    let authority: EphemeralCertificateAuthority
    let server: TLSServerConfiguration
    let client: TLSClientConfiguration

    init(unixTime: Int64 = currentUnixTime()) throws {
        authority = try EphemeralCertificateAuthority(unixTime: unixTime)
        let credentials = try authority.issueServer(unixTime: unixTime)
        server = try TLSServerConfiguration(
            certificateChain: credentials.certificateChain, privateKey: credentials.privateKey)
        client = try TLSClientConfiguration(trust: .certificates(authority.certificate))
    }
}

/// A server that answers each connection with what it sends, or as `greet` says.
final class EchoServer: ListenerOwner, @unchecked Sendable {  // used on its loop only
    let loop: EpollLoop
    let listener: Listener
    private let greet: ((Talker) -> Void)?
    private var talkers: [Talker] = []
    private let parking: Parking

    init(
        _ loop: EpollLoop, tls: TLSServerConfiguration?, greet: ((Talker) -> Void)? = nil
    ) throws {
        self.loop = loop
        self.greet = greet
        parking = Parking(loop)
        listener = try Listener(on: loop, at: ListenAddress(host: "127.0.0.1", port: 0), tls: tls)
        try listener.start(self)
    }

    func accepted(_ connection: Connection) {
        let talker = Talker(connection, loop)
        talker.echoes = greet == nil
        talker.onOpen = greet
        talkers.append(talker)
        connection.start(talker)
        parking.unpark()
    }

    /// The first connection that was accepted.
    func talker() async -> Talker {
        while talkers.isEmpty { await parking.park() }
        return talkers[0]
    }

    func dial(host: String = "127.0.0.1", tls: TLSClientConfiguration?)
        async throws(ConnectionError)
        -> Connection
    {
        try await Connection.dial(
            host: host, port: listener.address.port, tls: tls, on: loop, within: .seconds(120))
    }
}

/// The owner of one connection: sends, collects, and notes how it ended.
final class Talker: ByteStreamOwner, @unchecked Sendable {  // used on its loop only
    enum End: Equatable {
        case endedByPeer
        case closedByThisSide
        case failed(ConnectionError.Kind)
    }

    let connection: Connection
    var echoes = false
    var mayWrite = true
    var onOpen: ((Talker) -> Void)?
    private(set) var received: [UInt8] = []
    private(set) var end: End?
    private(set) var error: ConnectionError?
    private(set) var endCount = 0
    private let parking: Parking
    private var unsent: ArraySlice<UInt8> = []
    private var closesAfterwards = false

    init(_ connection: Connection, _ loop: EpollLoop) {
        self.connection = connection
        parking = Parking(loop)
        connection.handOver(to: self)
    }

    func send(_ bytes: [UInt8], close: Bool = false) {
        unsent = unsent + bytes
        connection.wantsOutput()
        if close { connection.close() }
    }

    /// Output waits, for the peer takes no more.
    var isHeldBack: Bool { connection.unsentBytes > 0 }

    func receive(count: Int) async -> [UInt8] {
        connection.resumeReading()
        while received.count < count, end == nil { await parking.park() }
        return received
    }

    func waitForEnd() async -> End? {
        while end == nil { await parking.park() }
        return end
    }

    func opened() { onOpen?(self) }

    func received(_ bytes: UnsafeRawBufferPointer) {
        if echoes { send(Array(bytes)) } else { received.append(contentsOf: bytes) }
        parking.unpark()
    }

    func fillOutput(_ output: OutputBuffer) {
        while !output.isFull, !unsent.isEmpty {
            output.append(unsent.prefix(10_000))
            unsent = unsent.dropFirst(10_000)
        }
    }

    func inputEnded() {
        end = .endedByPeer
        parking.unpark()
        if echoes { connection.close() }
    }

    func closed(_ error: ConnectionError?) {
        endCount += 1
        self.error = error
        end = end ?? error.map { .failed($0.kind) } ?? .closedByThisSide
        parking.unpark()
    }
}
