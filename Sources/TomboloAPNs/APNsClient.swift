package import TomboloCore
import TomboloHTTP
package import TomboloLoop

/// Sends the pushes of one lane (an app in one environment) and says exactly what became of each.
///
/// - **Outcomes**: one `PushOutcome` per push, within `APNsConfiguration.pushDeadline` of its
///   hand-over. *Accepted* and *rejected* are Apple's word; *not sent* is sure not to have been
///   processed; *unknown* may have been. What was surely not processed (GOAWAY, REFUSED_STREAM)
///   goes again on another connection within the same deadline; nothing else is sent twice here.
/// - **Capacity**: how many pushes may be without an outcome at once. Without a connection it is 1:
///   that one push causes the connection and waits for it. It is 0 while a back-off forbids to
///   connect, so that no push grows old in here. On a connection it is 1 until Apple accepted a
///   push there, then what the peer's `MAX_CONCURRENT_STREAMS` leaves; a limit that falls is obeyed
///   at once, by telling a capacity that falls as pushes end. A push within the capacity that was
///   told waits if it must; one beyond it is *not sent*.
/// - **Connections** are opened on demand, one after the other, and another one when the first are
///   full, up to the configured number. One that Apple drains (GOAWAY), that brought a refusal of
///   the provider token, or that answered nothing for a push's whole deadline takes no more; if it
///   was in use, its successor is opened at once. So is that of one which allows no stream for the
///   connect deadline.
///
/// ```swift
/// let client = try APNsClient(
///     configuration, key: key, loop: loop, chance: chance, receiver: receiver)
/// client.send(push)  // the receiver gets its outcome once
/// try await client.run()
/// ```
///
/// `@unchecked Sendable`: used on its loop's thread only; `loop.checkIsolated()` guards its face.
package final class APNsClient: TimerTarget, TurnTarget, @unchecked Sendable {
    /// What an operator wants to see of a lane.
    package struct Status: Hashable, Sendable {
        package let connections: Int
        package let pushesInFlight: Int
        /// What all connections of the lane have written so far, before TLS.
        package let sentBytes: UInt64
        /// Why the last connection was not made, or ended before it was of use; nil once one
        /// serves.
        package let trouble: String?
    }

    /// How often one push may be given to a connection, before it is *not sent*. More than a server
    /// needs that ends its connections early (one with 100 requests for each, and a thousand
    /// streams at once); but one that refuses every stream is not asked for ever.
    package static let attemptsMax = 64

    let pool: APNsConnectionPool
    private let configuration: APNsConfiguration
    private let key: ProviderKey
    private let loop: any Loop
    /// Its owner, as `init` says: a checked reference would cost a count for every outcome.
    private unowned(unsafe) let receiver: any PushOutcomeReceiver
    private let requests: PushRequests
    private let pushes = PushesInFlight()
    private let pushDeadlineNanoseconds: Int64
    /// Pushes that wait for a connection: a first one, or those that come back from an ended
    /// connection.
    /// Unchecked, here and in the pool: the run-time check costs more than what is done with it.
    @exclusivity(unchecked) private var waiting: [UInt64] = []
    private var isDeadlineArmed = false
    private var isTurnNoted = false
    private var toldCapacity = 0

    /// `receiver` must outlive the client. `chance` spreads the back-off. Throws where the
    /// authorities of `configuration` cannot be read.
    package convenience init(
        _ configuration: APNsConfiguration, key: ProviderKey, loop: EpollLoop,
        chance: any RandomNumberGenerator & Sendable, receiver: any PushOutcomeReceiver
    ) throws(APNsConfigurationError) {
        let dialer = try TCPDialer(configuration, loop: loop)
        self.init(
            configuration, key: key, loop: loop, dialer: dialer, chance: chance,
            receiver: receiver)
    }

    /// The same on any loop, with connections that somebody else makes.
    package init(
        _ configuration: APNsConfiguration, key: ProviderKey, loop: any Loop,
        dialer: any APNsDialer, chance: any RandomNumberGenerator & Sendable,
        receiver: any PushOutcomeReceiver
    ) {
        self.configuration = configuration
        self.key = key
        self.loop = loop
        self.receiver = receiver
        pushDeadlineNanoseconds = configuration.pushDeadline.nanoseconds
        requests = PushRequests(
            bundleID: configuration.bundleID, endpoint: configuration.endpoint, key: key)
        pool = APNsConnectionPool(configuration, loop: loop, dialer: dialer, chance: chance)
        pool.belongs(to: self)
    }

    /// Opens connections as they are wanted until it is cancelled, then closes them and throws
    /// `CancellationError`. Pushes in flight at that moment end as *unknown*: whoever stops
    /// gracefully waits for their outcomes first. Capacity is 0 before and after.
    package func run() async throws {
        loop.checkIsolated()
        await pool.run()
        endAll()
        tellCapacity()
        throw CancellationError()
    }

    /// Opens a connection before the first push wants one; `isWarm` tells when it is there.
    package func warm() {
        loop.checkIsolated()
        pool.want()
    }

    /// Whether a connection is open, and Apple's settings have come.
    package var isWarm: Bool { pool.free != nil }

    package var status: Status {
        loop.checkIsolated()
        return Status(
            connections: pool.count, pushesInFlight: pushes.count, sentBytes: pool.sentBytes,
            trouble: pool.trouble)
    }

    /// Pushes that may be without an outcome at once, now: what connections carry, and what they
    /// would take. `capacityChanged` tells it at a turn's end.
    package var capacity: Int { pool.inFlight + (pool.free ?? (pool.mayConnect ? 1 : 0)) }

    /// Sends `push`, or lets it wait for a connection. Its outcome is told once, perhaps before
    /// this returns.
    package func send(_ push: consuming Push) {
        loop.checkIsolated()
        let tag = pushes.insert(consume push, at: loop.now)
        armDeadline()
        noteTurn()
        // Behind those that came back from a connection: the oldest go first.
        if waiting.isEmpty, submit(tag) { return }
        // What was told holds until the next is told, though a connection may have gone in this
        // turn. A relay that starts with pushes due may be quicker than its lanes: the first push
        // waits for `run`, as it would wait for a connection.
        let isEarly = !pool.hasRun && pushes.count == 1
        guard isEarly || pool.isRunning && pushes.count <= toldCapacity else {
            let why = pool.isRunning ? "is full" : "is closed"
            return end(tag, .notSent(reason: "connection to \(configuration.endpoint) \(why)"))
        }
        waiting.append(tag)
    }

    /// Hands a push to a connection; false if none has room. The push stays where it is: a copy
    /// would cost a count for each of its parts.
    private func submit(_ tag: UInt64) -> Bool {
        while let place = pool.roomiest {
            guard let push = pushes.place(of: tag) else { return true }
            let generation = key.currentGeneration()
            let isGood = place._withUnsafeGuaranteedRef {
                $0.allowance.pointee.carries(generation, now: loop.now)
            }
            guard isGood else {
                let connection = place.takeUnretainedValue()
                pool.retire(connection, because: "carries an older provider token")
                continue
            }
            place._withUnsafeGuaranteedRef { give(push, tag, to: $0, generation) }
            return true
        }
        return false
    }

    private func give(
        _ push: UnsafePointer<Push>, _ tag: UInt64, to connection: APNsConnection,
        _ generation: ProviderToken.Generation
    ) {
        pushes.assign(tag, to: connection.number, tokenGeneration: generation)
        connection.submit(
            requests.request(for: push, generation: generation), body: push.pointee.payload,
            before: MonotonicInstant(
                nanoseconds: loop.now.nanoseconds &+ pushDeadlineNanoseconds), tag: tag)
    }

    // MARK: Waiting

    /// The pushes that wait go, as far as there is room; for the others a connection is seen to.
    private func placeWaiting() {
        guard !waiting.isEmpty else { return }
        var placed = 0
        for tag in waiting {
            // Without an entry its deadline has passed.
            if pushes.place(of: tag) != nil, !submit(tag) { break }
            placed += 1
        }
        waiting.removeFirst(min(placed, waiting.count))
        if !waiting.isEmpty, pool.free == nil { pool.want() }
    }

    func couldNotConnect(_ reason: String) {
        noteTurn()
        let tags = waiting
        waiting = []
        for tag in tags { end(tag, .notSent(reason: reason)) }
    }

    // MARK: Outcomes

    /// The HTTP/2 client's word on the push of `tag`.
    func ended(_ tag: UInt64, _ outcome: HTTP2Outcome, on connection: APNsConnection) {
        noteTurn()
        // Without an entry its deadline has passed: it was told as unknown, and that stands.
        guard let entry = pushes[tag] else { return }
        switch outcome {
        case .answered(let answer):
            let result = answered(
                APNsAnswer(status: answer.status, body: answer.body), to: entry, on: connection)
            end(tag, result)
        case .notProcessed(let failure):
            connection.allowance.pointee.lost()
            notProcessed(tag, entry, failure)
        case .unknown(.deadline):
            return expire(tag, entry)
        case .unknown(let failure):
            connection.allowance.pointee.lost()
            end(tag, .unknown(reason: "\(failure)"))
        }
        pool.closeIfDrained(connection)
    }

    /// The HTTP/2 client's word that the answers to the pushes of `tags` are 200: what nearly all
    /// are.
    func accepted(_ tags: [UInt64], on connection: APNsConnection) {
        noteTurn()
        // Since they were sent they have left the cache: all are fetched at once, not one by one.
        for tag in tags { pushes.prefetch(tag) }
        for (index, tag) in tags.enumerated() {
            if index + 1 < tags.count { pushes.prefetchPayload(tags[index + 1]) }
            guard let entry = pushes.remove(tag) else { continue }
            connection.allowance.pointee.answered(accepted: true, serves: true, now: loop.now)
            pool.served()
            tell(entry, .accepted)
        }
        pool.closeIfDrained(connection)
    }

    /// The push waits for another connection, or for room on this one, within its deadline.
    private func notProcessed(
        _ tag: UInt64, _ entry: PushesInFlight.Entry, _ failure: HTTP2Failure
    ) {
        if case .unsendable = failure {
            // No connection will take it: as if Apple had called it malformed.
            return end(
                tag,
                .rejected(
                    status: 400, reason: "\(failure)", reaches: .push, tokenGoneSince: nil))
        }
        guard failure != .deadline, entry.attempts < Self.attemptsMax,
            pool.free != nil || pool.mayConnect
        else {
            return end(tag, .notSent(reason: pool.trouble ?? "\(failure)"))
        }
        pushes.unassign(tag)
        waiting.append(tag)
    }

    private func answered(
        _ answer: APNsAnswer, to entry: PushesInFlight.Entry, on connection: APNsConnection
    ) -> PushResult {
        let accepted = answer.status == 200
        connection.allowance.pointee.answered(
            accepted: accepted, serves: !answer.retiresConnection, now: loop.now)
        guard answer.retiresConnection else {
            pool.served()
            return answer.result
        }
        let remedy = answer.isExpiredToken ? key.expired(entry.tokenGeneration) : .none
        if remedy == .newToken {
            // The token was at fault and is replaced: no failure of the endpoint.
            connection.allowance.pointee.excuse()
        }
        pool.retire(connection, because: "brought \(answer.status) \(answer.reason)")
        return remedy == .newToken ? answer.result(reaching: .connection) : answer.result
    }

    private func end(_ tag: UInt64, _ result: PushResult) {
        if let entry = pushes.remove(tag) { tell(entry, result) }
    }

    private func tell(_ entry: borrowing PushesInFlight.Entry, _ result: PushResult) {
        let took = Span(
            nanoseconds: loop.now.nanoseconds &- entry.handedOverAt.nanoseconds)
        receiver.pushEnded(PushOutcome(push: entry.id, result: result, took: took))
    }

    /// After the last connection is closed: whatever is left was on one, or waited for one.
    private func endAll() {
        couldNotConnect("connection to \(configuration.endpoint) is closed")
        while let tag = pushes.first { end(tag, .unknown(reason: "the relay is stopping")) }
    }

    // MARK: Deadlines

    private func armDeadline() {
        guard !isDeadlineArmed, let entry = oldest else { return }
        isDeadlineArmed = true
        _ = loop.schedule(at: entry.handedOverAt + configuration.pushDeadline, self)
    }

    private var oldest: PushesInFlight.Entry? { pushes.first.flatMap { pushes[$0] } }

    /// The oldest push may be due: all wait equally long, so one timer serves them all.
    package func timerFired() {
        isDeadlineArmed = false
        while let tag = pushes.first, let entry = oldest,
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
            waiting.removeAll { $0 == tag }
            let reason = "no connection to \(configuration.endpoint) \(limit)"
            return end(tag, .notSent(reason: pool.trouble ?? reason))
        }
        end(tag, .unknown(reason: "\(configuration.endpoint) did not answer \(limit)"))
        guard let connection = pool.connection(number) else { return }
        connection.allowance.pointee.lost()
        if connection.allowance.pointee.isSilent(since: entry.handedOverAt) {
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

    /// Everything that changed in this turn has: those that wait go, and the capacity is told.
    package func turnEnded() {
        isTurnNoted = false
        placeWaiting()
        pool.giveUpWithoutRoom()
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
