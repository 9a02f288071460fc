package import TomboloCore
import TomboloHTTP
package import TomboloLoop

/// Sends the pushes of one lane (an app in one environment) and says exactly what became of each.
///
/// - **Outcomes**: one `PushOutcome` per push, within `APNsConfiguration.pushDeadline` of its hand-over.
///   *Accepted* and *rejected* are Apple's word; *not sent* is sure not to have been processed;
///   *unknown* may have been. Nothing is sent twice here: what to do next is the core's to decide.
/// - **Capacity**: how many pushes may be without an outcome at once. Without a connection it is 1: that
///   one push causes the connection and waits for it. It is 0 while a back-off forbids to connect, so
///   that no push grows old in here. On a connection it is 1 until Apple accepted a push there, then
///   what the peer's `MAX_CONCURRENT_STREAMS` leaves; a limit that falls is obeyed at once, by telling
///   a capacity that falls as pushes end. A push beyond the capacity is *not sent*.
/// - **Connections** are opened on demand, one after the other, and another one when the first are
///   full, up to the configured number. One that Apple drains (GOAWAY), that brought a refusal of the
///   provider token, or that answered nothing for a push's whole deadline takes no more; if it was in
///   use, its successor is opened at once.
///
/// `@unchecked Sendable`: used on its loop's thread only; `loop.checkIsolated()` guards its face.
package final class APNsClient: TimerTarget, TurnTarget, @unchecked Sendable {
    /// What an operator wants to see of a lane.
    package struct Status: Hashable, Sendable {
        package let connections: Int
        package let pushesInFlight: Int
        /// Why the last connection was not made, or ended before it was of use; nil once one serves.
        package let trouble: String?
    }

    let pool: APNsConnectionPool
    private let configuration: APNsConfiguration
    private let key: ProviderKey
    private let loop: EpollLoop
    private unowned let receiver: any PushOutcomeReceiver
    private var requests: PushRequests
    private var pushes = PushesInFlight()
    /// The one push that waits for a connection.
    private var waiting: (tag: UInt64, push: Push)?
    private var isDeadlineArmed = false
    private var isTurnNoted = false
    private var toldCapacity = 0

    /// `receiver` must outlive the client. `chance` spreads the back-off. Throws where the authorities
    /// of `configuration` cannot be read.
    package init(
        _ configuration: APNsConfiguration, key: ProviderKey, loop: EpollLoop,
        chance: any RandomNumberGenerator & Sendable, receiver: any PushOutcomeReceiver
    ) throws(APNsConfigurationError) {
        self.configuration = configuration
        self.key = key
        self.loop = loop
        self.receiver = receiver
        requests = PushRequests(
            bundleID: configuration.bundleID, endpoint: configuration.endpoint)
        pool = try APNsConnectionPool(configuration, loop: loop, chance: chance)
        pool.belongs(to: self)
    }

    /// Opens connections as they are wanted until it is cancelled, then closes them and throws
    /// `CancellationError`. Pushes in flight at that moment end as *unknown*: whoever stops gracefully
    /// waits for their outcomes first. Capacity is 0 before and after.
    package func run() async throws {
        loop.checkIsolated()
        await pool.run()
        endAll()
        tellCapacity()
        throw CancellationError()
    }

    package var status: Status {
        loop.checkIsolated()
        return Status(
            connections: pool.count, pushesInFlight: pushes.count, trouble: pool.trouble)
    }

    /// Pushes that may be without an outcome at once, now. `capacityChanged` tells it at a turn's end.
    package var capacity: Int {
        pushes.count + (pool.free ?? (waiting == nil && pool.mayConnect ? 1 : 0))
    }

    /// Sends `push`, or lets it wait for a connection. Its outcome is told once, perhaps before this
    /// returns.
    package func send(_ push: Push) {
        loop.checkIsolated()
        let tag = pushes.insert(PushesInFlight.Entry(push: push.id, handedOverAt: loop.now))
        armDeadline()
        noteTurn()
        if submit(push, tag) { return }
        guard pool.isRunning, waiting == nil, pool.free == nil else {
            let why = pool.isRunning ? "is full" : "is closed"
            return end(tag, .notSent(reason: "connection to \(configuration.endpoint) \(why)"))
        }
        waiting = (tag, push)
        pool.want()
    }

    /// Hands a push to a connection; false if none has room.
    private func submit(_ push: Push, _ tag: UInt64) -> Bool {
        while let connection = pool.roomiest {
            let authorization = key.current()
            guard connection.allowance.carries(authorization.generation, now: loop.now) else {
                pool.retire(connection, because: "carries an older provider token")
                continue
            }
            pushes.assign(
                tag, connection: connection.number, tokenGeneration: authorization.generation)
            connection.submit(
                requests.request(for: push, authorization: authorization.value), tag: tag)
            return true
        }
        return false
    }

    // MARK: Connections

    /// The push that waits goes, if it can; else its connection is seen to.
    func placeWaiting() {
        guard let (tag, push) = waiting else { return }
        waiting = nil
        if submit(push, tag) { return }
        waiting = (tag, push)
        if pool.free == nil { pool.want() }
    }

    func couldNotConnect(_ reason: String) {
        noteTurn()
        guard let (tag, _) = waiting else { return }
        waiting = nil
        end(tag, .notSent(reason: reason))
    }

    // MARK: Outcomes

    /// The HTTP/2 client's word on the push of `tag`.
    func ended(_ tag: UInt64, _ outcome: HTTP2Outcome, on connection: APNsConnection) {
        noteTurn()
        // Without an entry its deadline has passed: it was told as unknown, and that stands.
        guard let entry = pushes.remove(tag) else { return }
        let result: PushResult
        switch outcome {
        case .answered(let answer):
            result = answered(
                APNsAnswer(status: answer.status, body: answer.body), to: entry, on: connection)
        case .notProcessed(let failure):
            connection.allowance.lost()
            result = .notSent(reason: "\(failure)")
        case .unknown(let failure):
            connection.allowance.lost()
            result = .unknown(reason: "\(failure)")
        }
        pool.closeIfDrained(connection)
        tell(entry, result)
    }

    private func answered(
        _ answer: APNsAnswer, to entry: PushesInFlight.Entry, on connection: APNsConnection
    ) -> PushResult {
        let accepted = answer.status == 200
        connection.allowance.answered(
            accepted: accepted, serves: !answer.retiresConnection, now: loop.now)
        guard answer.retiresConnection else {
            pool.served()
            return answer.result
        }
        let remedy = answer.isExpiredToken ? key.expired(entry.tokenGeneration) : .none
        if remedy == .newToken {
            // The token was at fault and is replaced: no failure of the endpoint.
            connection.allowance.excuse()
        }
        pool.retire(connection, because: "brought \(answer.status) \(answer.reason)")
        return remedy == .newToken ? answer.result(reaching: .connection) : answer.result
    }

    private func end(_ tag: UInt64, _ result: PushResult) {
        if let entry = pushes.remove(tag) { tell(entry, result) }
    }

    private func tell(_ entry: PushesInFlight.Entry, _ result: PushResult) {
        let took = Span(nanoseconds: (loop.now - entry.handedOverAt).nanoseconds)
        receiver.pushEnded(PushOutcome(push: entry.push, result: result, took: took))
    }

    /// After the last connection is closed: whatever is left was on one, or waited for one.
    private func endAll() {
        couldNotConnect("connection to \(configuration.endpoint) is closed")
        while let (tag, _) = pushes.first { end(tag, .unknown(reason: "the relay is stopping")) }
    }

    // MARK: Deadlines

    private func armDeadline() {
        guard !isDeadlineArmed, let (_, entry) = pushes.first else { return }
        isDeadlineArmed = true
        _ = loop.schedule(at: entry.handedOverAt + configuration.pushDeadline, self)
    }

    /// The oldest push may be due: all wait equally long, so one timer serves them all.
    package func timerFired() {
        isDeadlineArmed = false
        while let (tag, entry) = pushes.first,
            loop.now >= entry.handedOverAt + configuration.pushDeadline
        {
            expire(tag, entry)
        }
        armDeadline()
        noteTurn()
    }

    private func expire(_ tag: UInt64, _ entry: PushesInFlight.Entry) {
        let limit = "within \(configuration.pushDeadline)"
        guard let number = entry.connection else {
            if waiting?.tag == tag { waiting = nil }
            let reason = "no connection to \(configuration.endpoint) \(limit)"
            return end(tag, .notSent(reason: pool.trouble.map { "\(reason): \($0)" } ?? reason))
        }
        let connection = pool.connection(number)
        connection?.allowance.lost()
        end(tag, .unknown(reason: "\(configuration.endpoint) did not answer \(limit)"))
        guard let connection else { return }
        if connection.allowance.isSilent(since: entry.handedOverAt) {
            pool.abandon(connection, because: "answered nothing \(limit)")
        } else {
            pool.closeIfDrained(connection)
        }
    }

    // MARK: Capacity

    /// Something changed that capacity depends on: it is looked at once, when the turn ends.
    func noteTurn() {
        guard !isTurnNoted else { return }
        isTurnNoted = true
        loop.atEndOfTurn(self)
    }

    package func turnEnded() {
        isTurnNoted = false
        placeWaiting()
        if pool.free == 0 { pool.grow() }
        tellCapacity()
    }

    private func tellCapacity() {
        let capacity = capacity
        guard capacity != toldCapacity else { return }
        toldCapacity = capacity
        receiver.capacityChanged(lane: configuration.lane, to: capacity)
    }
}
