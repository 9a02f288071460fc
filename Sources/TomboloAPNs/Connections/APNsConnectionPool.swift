import TomboloHTTP
import TomboloLoop

/// The connections of one upstream. Opens them on demand, one after the other, and closes them.
///
/// On the loop only, like its client.
final class APNsConnectionPool {
    private let configuration: APNsConfiguration
    private let dialer: any APNsDialer
    private let loop: any Loop
    private var chance: any RandomNumberGenerator & Sendable
    /// The pool's owner. Unowned because a weak reference would slow down every use for pushes.
    private unowned var client: APNsClient!

    @exclusivity(unchecked) private var connections: [APNsConnection] = [] {
        didSet { places = connections.map { .passUnretained($0) } }
    }
    /// The same connections as unretained references, for `roomiest`.
    @exclusivity(unchecked) private var places: [Unmanaged<APNsConnection>] = []
    private var connectionsMade: Int32 = 0
    /// Bytes sent on connections that have ended.
    private var sentBytesBefore: UInt64 = 0
    @exclusivity(unchecked) private var backOff: ReconnectBackOff
    private var isWanted = false
    private var isConnecting = false
    private let wanted: Parking
    /// When the first connection that has no room will be given up; nil if all have room.
    private var givenUpAt: MonotonicInstant?

    private(set) var isRunning = false
    /// True once `run` has been called.
    private(set) var hasRun = false
    /// Why the last connection failed or ended before it served a push; nil once one serves.
    @exclusivity(unchecked) private(set) var trouble: String?

    init(
        _ configuration: APNsConfiguration, loop: any Loop, dialer: any APNsDialer,
        chance: any RandomNumberGenerator & Sendable
    ) {
        self.configuration = configuration
        self.loop = loop
        self.dialer = dialer
        self.chance = chance
        backOff = ReconnectBackOff(atMost: configuration.connectEvery)
        wanted = Parking(loop)
    }

    func belongs(to client: APNsClient) { self.client = client }

    var count: Int { connections.count }

    /// Bytes written on all connections so far, counted before encryption.
    var sentBytes: UInt64 { connections.reduce(sentBytesBefore) { $0 + $1.sentBytes } }

    /// Number of pushes that the open connections may take now; nil if no connection is open.
    var free: Int? {
        var free: Int?
        for connection in connections where !connection.allowance.pointee.isRetired {
            free = (free ?? 0) + connection.free
        }
        return free
    }

    /// Number of pushes in flight on all connections, including drained ones.
    var inFlight: Int { connections.reduce(0) { $0 + $1.allowance.pointee.inFlight } }

    var mayConnect: Bool { isRunning && backOff.allows(now: loop.now) }

    /// The connection with room that has the fewest pushes in flight. The reference is unretained,
    /// because it is used for every push; it is valid until a connection ends.
    var roomiest: Unmanaged<APNsConnection>? {
        var best: Unmanaged<APNsConnection>?
        var least = Int.max
        for place in places {
            let inFlight = place._withUnsafeGuaranteedRef {
                $0.free > 0 ? $0.allowance.pointee.inFlight : .max
            }
            if inFlight < least { (best, least) = (place, inFlight) }
        }
        return best
    }

    func connection(_ number: Int32) -> APNsConnection? {
        connections.first { $0.number == number }
    }

    /// Writes what `APNsClient.mayPush` held back.
    func resumeWriting() { for connection in connections { connection.resumeWriting() } }

    /// Requests another connection. It is opened as soon as the back-off allows, unless there are
    /// enough. Has no effect while one is being opened.
    func want() {
        guard !isWanted, !isConnecting else { return }
        isWanted = true
        wanted.unpark()
    }

    /// All connections are full: requests one more, if the limit allows it and Apple has accepted
    /// pushes on each open one.
    func grow() {
        guard openCount < configuration.connections else { return }
        let proved = connections.allSatisfy { connection in
            let allowance = connection.allowance.pointee
            return allowance.isRetired || (allowance.hasAccepted && allowance.inFlight > 0)
        }
        if proved { want() }
    }

    private var openCount: Int { connections.count { !$0.allowance.pointee.isRetired } }

    /// A connection has answered a push and stays usable.
    func served() {
        guard trouble != nil || backOff.failures > 0 else { return }
        trouble = nil
        backOff.served()
    }

    // MARK: Opening

    /// Opens connections until the task is cancelled, then closes all.
    func run() async {
        precondition(!isRunning, "an upstream's client runs once at a time")
        isRunning = true
        hasRun = true
        client.noteTurn()
        while !Task.isCancelled {
            let mayConnect = mayConnect
            if isWanted, mayConnect {
                await connect()
            } else {
                // Wake at the end of the back-off: it changes the capacity and allows to connect.
                let backOffEnds = mayConnect ? nil : backOff.notBefore
                _ = await wanted.park(until: [backOffEnds, givenUpAt].compactMap { $0 }.min())
                giveUpWithoutRoom()
                client.noteTurn()
            }
        }
        isRunning = false
        for connection in connections { close(connection) }
    }

    private func connect() async {
        isWanted = false
        guard openCount < configuration.connections else { return }
        isConnecting = true
        defer { isConnecting = false }
        let endpoint = configuration.endpoint
        do throws(ConnectionError) {
            let http = try await dialer.connect(within: configuration.connectDeadline)
            connectionsMade += 1
            http.writeGate = client.mayPush
            let connection = APNsConnection(number: connectionsMade, http: http, client: client)
            connections.append(connection)
            connection.begin()
            client.noteTurn()
        } catch {
            failed("no connection to \(endpoint): \(error)")
        }
    }

    private func failed(_ reason: String) {
        trouble = reason
        backOff.failed(now: loop.now, chance: chance.next())
        // `run` may sleep without a deadline. Wake it, so that it considers the back-off.
        wanted.unpark()
        client.couldNotConnect(reason)
    }

    // MARK: Closing

    /// The connection takes no further push, and is closed when its pushes have ended. If it was in
    /// use, another one is opened. If it never served a push, this counts as a failure to connect.
    func retire(_ connection: APNsConnection, because reason: String) {
        if !connection.allowance.pointee.isRetired {
            connection.allowance.pointee.retire()
            if connection.allowance.pointee.inFlight > 0 { want() }
            if !connection.allowance.pointee.hasServed {
                failed("connection to \(configuration.endpoint) \(reason)")
            }
        }
        closeIfDrained(connection)
        client.noteTurn()
    }

    /// Retires connections without room. A peer that allows no stream
    /// (`SETTINGS_MAX_CONCURRENT_STREAMS` of 0, RFC 9113, 5.1.2) would block the upstream as long
    /// as the connection lives. So a connection is replaced if it had no room and nothing in flight
    /// for the connect deadline.
    func giveUpWithoutRoom() {
        var next: MonotonicInstant?
        for connection in connections {
            guard let since = connection.withoutRoom(now: loop.now) else { continue }
            let end = since + configuration.connectDeadline
            guard end <= loop.now else {
                next = next.map { min($0, end) } ?? end
                continue
            }
            retire(connection, because: "allowed no stream")
            want()
        }
        guard next != givenUpAt else { return }
        givenUpAt = next
        wanted.unpark()
    }

    /// Closes the connection at once. Its pushes become *unknown*.
    func abandon(_ connection: APNsConnection, because reason: String) {
        retire(connection, because: reason)
        close(connection)
    }

    /// The connection ended by itself.
    func closed(_ connection: APNsConnection, because reason: String) {
        retire(connection, because: reason)
        remove(connection)
    }

    func closeIfDrained(_ connection: APNsConnection) {
        if connection.allowance.pointee.isRetired, connection.allowance.pointee.inFlight == 0 {
            close(connection)
        }
    }

    private func close(_ connection: APNsConnection) {
        // `close` calls `closed`, so remove the connection from the list first.
        guard remove(connection) else { return }
        connection.close()
    }

    @discardableResult
    private func remove(_ connection: APNsConnection) -> Bool {
        guard let index = connections.firstIndex(where: { $0 === connection }) else { return false }
        connections.remove(at: index)
        sentBytesBefore += connection.sentBytes
        return true
    }
}
