package import TomboloCore
import TomboloHTTP
package import TomboloLoop

/// Sends the pushes of one upstream (an app in one environment) and reports the outcome of each.
///
/// - **Outcomes**: one `PushOutcome` per push, within `APNsConfiguration.pushDeadline` of its
///   hand-over. *Accepted* and *rejected* are Apple's answers. A push that is *not sent* was
///   certainly not processed; an *unknown* one may have been. A push that Apple did not process
///   (GOAWAY, REFUSED_STREAM) is sent again on another connection within the same deadline. No
///   other push is sent twice.
/// - **Capacity**: how many pushes may be without an outcome at once. Without a connection it is 1:
///   this push opens the connection and waits for it. It is 0 while a back-off forbids connecting,
///   so that no push waits for long. On a connection it is 1 until Apple has accepted a push there;
///   then the peer's `MAX_CONCURRENT_STREAMS` limits it. If this limit falls, the reported capacity
///   falls as pushes end. A push within the reported capacity may wait; a push beyond it is *not
///   sent*.
/// - **Connections** are opened on demand, one after the other, up to the configured number:
///   another one when the open ones are full. A connection is retired when Apple drains it
///   (GOAWAY), when an answer on it refuses the provider token, or when nothing was answered on it
///   for a push's whole deadline. If it was in use, its successor is opened at once. A connection
///   that allows no stream for the connect deadline is replaced too.
///
/// ```swift
/// let client = try APNsClient(
///     configuration, key: key, loop: loop, chance: chance, receiver: receiver)
/// client.send(push)  // the receiver gets its outcome once
/// try await client.run()
/// ```
///
/// `@unchecked Sendable`: used on its loop's thread only; `loop.checkIsolated()` checks that.
package final class APNsClient: TimerTarget, TurnTarget, @unchecked Sendable {
    /// State of an upstream, for operators.
    package struct Status: Hashable, Sendable {
        package let connections: Int
        package let pushesInFlight: Int
        /// Bytes that all connections of the upstream have written, before encryption.
        package let sentBytes: UInt64
        /// Why the last connection failed, or ended without serving a push; nil once one serves.
        package let trouble: String?
    }

    /// Maximum number of attempts to send one push; then it is *not sent*. High enough for a server
    /// that ends connections early (for example after 100 requests, with a thousand streams at
    /// once), but finite in case a server refuses every stream.
    package static let attemptsMax = 64

    /// False while nothing may be sent; nil means that it always may. Set it before `run`.
    ///
    /// It is for a relay that was stopped (SIGSTOP, a suspended machine) while another relay took
    /// its log: when it wakes, it must not send what it decided before. So it is asked when a push
    /// gets its connection and again before each write to the socket. While it is false, pushes
    /// wait within their deadline, and `capacity` counts only those in flight. `lookAgain` notices
    /// a change.
    package var mayPush: (@Sendable () -> Bool)?

    let pool: APNsConnectionPool
    private let configuration: APNsConfiguration
    private let key: ProviderKey
    private let loop: any Loop
    /// The caller keeps it alive (see `init`). A strong reference would cost a reference count each
    /// time.
    private unowned(unsafe) let receiver: any PushOutcomeReceiver
    private let requests: PushRequests
    private let pushes = PushesInFlight()
    private let pushDeadlineNanoseconds: Int64
    /// Tags of pushes that wait for a connection: the first push, and those whose connection ended.
    /// Unchecked, here and in the pool: the run-time check would cost more than the accesses.
    @exclusivity(unchecked) private var waiting: [UInt64] = []
    private var isDeadlineArmed = false
    private var isTurnNoted = false
    private var toldCapacity = 0

    /// `receiver` must outlive the client. `chance` randomises the back-off. Throws if the
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

    /// Like the initializer above, on any loop and with a given dialer.
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

    /// Opens connections on demand until the task is cancelled. Then closes them and throws
    /// `CancellationError`. Pushes in flight end as *unknown*, so wait for their outcomes before a
    /// graceful stop. Capacity is 0 before and after.
    package func run() async throws {
        loop.checkIsolated()
        await pool.run()
        endAll()
        tellCapacity()
        throw CancellationError()
    }

    /// Opens a connection before the first push needs it. `isWarm` is true when it is open.
    package func warm() {
        loop.checkIsolated()
        pool.want()
    }

    /// True if a connection is open and Apple's SETTINGS have come.
    package var isWarm: Bool { pool.free != nil }

    package var status: Status {
        loop.checkIsolated()
        return Status(
            connections: pool.count, pushesInFlight: pushes.count, sentBytes: pool.sentBytes,
            trouble: pool.trouble)
    }

    /// How many pushes may be without an outcome now: those in flight and those that connections
    /// would accept. `capacityChanged` reports changes at the end of a turn.
    package var capacity: Int {
        pool.inFlight + (isHeld ? 0 : pool.free ?? (pool.mayConnect ? 1 : 0))
    }

    /// True while `mayPush` forbids to send.
    private var isHeld: Bool { mayPush.map { !$0() } ?? false }

    /// Call it a few times a second if `mayPush` is set, even if its answer is the same: it may
    /// have been false in between. Reports the capacity; if pushes may go, sends those that waited.
    package func lookAgain() {
        loop.checkIsolated()
        noteTurn()
        if !isHeld { pool.resumeWriting() }
    }

    /// Sends `push`, or lets it wait for a connection. Its outcome is reported once, perhaps during
    /// this call.
    package func send(_ push: consuming Push) {
        loop.checkIsolated()
        let tag = pushes.insert(consume push, at: loop.now)
        armDeadline()
        noteTurn()
        // If pushes of an ended connection wait, they are older and go first.
        if waiting.isEmpty, submit(tag) { return }
        // The capacity that was reported last holds until the next report, even if a connection has
        // ended in this turn. A push may also come before `run` is called: the first one waits.
        let isEarly = !pool.hasRun && pushes.count == 1
        guard isEarly || pool.isRunning && pushes.count <= toldCapacity else {
            let why = pool.isRunning ? "is full" : "is closed"
            return end(tag, .notSent(reason: "connection to \(configuration.endpoint) \(why)"))
        }
        waiting.append(tag)
    }

    /// Hands a push to a connection. Returns false if no connection has room. The push is not
    /// copied, because a copy would retain each of its parts.
    private func submit(_ tag: UInt64) -> Bool {
        guard !isHeld else { return false }
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

    /// Submits waiting pushes while connections have room. If some still wait, requests a
    /// connection.
    private func placeWaiting() {
        guard !waiting.isEmpty else { return }
        var placed = 0
        for tag in waiting {
            // If the push has no entry, it has passed its deadline: skip it.
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

    func ended(_ tag: UInt64, _ outcome: HTTP2Outcome, on connection: APNsConnection) {
        noteTurn()
        // If the push has no entry, it has passed its deadline and was reported as unknown.
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

    /// Fast path for pushes that were answered with 200, as most are.
    func accepted(_ tags: [UInt64], on connection: APNsConnection) {
        noteTurn()
        // The entries have left the CPU cache: prefetch all of them at once.
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

    /// The push was not processed: lets it wait for another connection, or for room on this one,
    /// within its deadline.
    private func notProcessed(
        _ tag: UInt64, _ entry: PushesInFlight.Entry, _ failure: HTTP2Failure
    ) {
        if case .unsendable = failure {
            // No connection can carry this push: reject it as if Apple had called it malformed.
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
            // Only the token was bad, and it is replaced, so the endpoint has not failed.
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
        receiver.pushEnded(
            PushOutcome(push: entry.id, result: result, took: took, changedAt: entry.changedAt))
    }

    /// Ends all remaining pushes. All connections are closed.
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

    /// Ends pushes that are past their deadline. All pushes get the same time, so one timer, for
    /// the oldest push, is enough.
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

    /// Call it after each change that may affect the capacity, which is then computed once at the
    /// end of the turn.
    func noteTurn() {
        guard !isTurnNoted else { return }
        isTurnNoted = true
        loop.atEndOfTurn(self)
    }

    /// Submits waiting pushes and reports the capacity, after all changes of the turn.
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
        receiver.capacityChanged(upstream: configuration.upstream, to: capacity)
    }
}
