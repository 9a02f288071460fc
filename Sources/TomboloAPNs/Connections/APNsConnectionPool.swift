import TomboloHTTP
import TomboloLoop

/// The connections of one lane: opens them as they are wanted, one after the other, and lets them
/// go.
///
/// On the loop only, as the client it belongs to.
final class APNsConnectionPool {
    private let configuration: APNsConfiguration
    private let dialer: any APNsDialer
    private let loop: any Loop
    private var chance: any RandomNumberGenerator & Sendable
    /// The pool's owner. Unowned, not weak: a weak reference makes every use of it by pushes
    /// slower.
    private unowned var client: APNsClient!

    @exclusivity(unchecked) private var connections: [APNsConnection] = [] {
        didSet { places = connections.map { .passUnretained($0) } }
    }
    /// The same, for `roomiest`.
    @exclusivity(unchecked) private var places: [Unmanaged<APNsConnection>] = []
    private var connectionsMade: Int32 = 0
    /// On connections that have ended.
    private var sentBytesBefore: UInt64 = 0
    @exclusivity(unchecked) private var backOff: ReconnectBackOff
    private var isWanted = false
    private var isConnecting = false
    private let wanted: Parking
    /// When the first connection without room is given up; nil: each has room, or pushes in flight.
    private var givenUpAt: MonotonicInstant?

    private(set) var isRunning = false
    /// Whether it runs, or has run.
    private(set) var hasRun = false
    /// Why the last connection was not made, or ended before it was of use; nil once one serves.
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

    /// What was written on all connections that there ever were, before TLS.
    var sentBytes: UInt64 { connections.reduce(sentBytesBefore) { $0 + $1.sentBytes } }

    /// Pushes that open connections take now; nil without an open connection.
    var free: Int? {
        var free: Int?
        for connection in connections where !connection.allowance.pointee.isRetired {
            free = (free ?? 0) + connection.free
        }
        return free
    }

    /// Pushes that connections carry, those that are being drained included.
    var inFlight: Int { connections.reduce(0) { $0 + $1.allowance.pointee.inFlight } }

    /// Whether a connection may be tried now.
    var mayConnect: Bool { isRunning && backOff.allows(now: loop.now) }

    /// The connection with the fewest pushes in flight of those that have room. Asked for every
    /// push and so without a count of references: it is good until a connection goes.
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

    /// Another connection is opened as soon as the back-off allows, unless there are enough. One
    /// that is being made is the one that was wanted.
    func want() {
        guard !isWanted, !isConnecting else { return }
        isWanted = true
        wanted.unpark()
    }

    /// All connections are full: one more is opened, if another is allowed and each has proved
    /// itself.
    func grow() {
        guard openCount < configuration.connections else { return }
        let proved = connections.allSatisfy { connection in
            let allowance = connection.allowance.pointee
            return allowance.isRetired || (allowance.hasAccepted && allowance.inFlight > 0)
        }
        if proved { want() }
    }

    private var openCount: Int { connections.count { !$0.allowance.pointee.isRetired } }

    /// A connection answered a push and means to go on.
    func served() {
        guard trouble != nil || backOff.failures > 0 else { return }
        trouble = nil
        backOff.served()
    }

    // MARK: Opening

    /// Until it is cancelled; then all connections are closed.
    func run() async {
        precondition(!isRunning, "a lane's client runs once at a time")
        isRunning = true
        hasRun = true
        client.noteTurn()
        while !Task.isCancelled {
            let mayConnect = mayConnect
            if isWanted, mayConnect {
                await connect()
            } else {
                // The end of the back-off is told as capacity, and a connection that is wanted is
                // tried.
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
        // `run` may sleep without an end: it looks at the back-off anew.
        wanted.unpark()
        client.couldNotConnect(reason)
    }

    // MARK: Letting go

    /// The connection takes no further push, and is closed when those it carries have ended. If it
    /// was in use its successor is opened; if it never served, that counts as a failure to connect.
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

    /// A peer that allows no stream (`SETTINGS_MAX_CONCURRENT_STREAMS` of 0, RFC 9113, 5.1.2) would
    /// stop the lane for as long as its connection lives. One without room for the connect
    /// deadline, and with nothing in flight that would make some, is retired, and another one is
    /// opened.
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

    /// The connection is closed at once: what it carries becomes *unknown*.
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
        // Closing tells the connection's end through `closed`: it is out of the list before.
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
