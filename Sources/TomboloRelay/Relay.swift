package import TomboloCore
package import TomboloEventLog
package import TomboloLoop

/// The shell around the core: it feeds inputs in, a turn at a time, and carries effects out.
///
/// All that happens between two waits of the loop is one turn: the inbox is emptied into the core,
/// and only then are answers given, pushes sent and the timer set. `turn()` has no `await`, so that
/// nothing can come between a look and the wait after it. What must be durable goes to the log as
/// one batch at a time; while one is being written, the next gathers: that is group commit, without
/// a delay when idle.
///
/// When the log fails, `run()` throws and nothing is taken any more: outcomes on disk are unknown,
/// and only a new start (`recover`) knows.
package actor Relay: TurnTarget, TimerTarget {
    package nonisolated let loop: any Loop
    private let log: any EventLog
    private let sender: any PushSender
    private let wallClock: any WallClock
    private var core: Core
    private var clock: RelayClock
    private var inbox: [Input] = []
    private var isTurnDue = false
    private var waiting: [Ticket: Waiter] = [:]
    private var lastTicket: UInt64 = 0
    private var watchers: [Parking] = []
    private let appending: Parking
    private var timer = TimerID()
    private var timerAt: MonotonicInstant?
    private var phase = Phase.new
    private var writesAll = false

    private enum Phase { case new, recovered, running, failed }

    /// Who waits for an answer.
    private enum Waiter {
        case one(UnsafeContinuation<Answer, Never>)
        case part(of: AnswerCollection, index: Int)
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - seed: of all the chance there is.
    package init(
        loop: any Loop, log: any EventLog, sender: any PushSender,
        configuration: CoreConfiguration, wallClock: any WallClock, seed: UInt64
    ) {
        self.loop = loop
        self.log = log
        self.sender = sender
        self.wallClock = wallClock
        core = Core(configuration: configuration, seed: seed)
        clock = RelayClock(wall: wallClock.now(), monotonic: loop.now.nanoseconds)
        appending = Parking(loop)
    }

    // MARK: Life

    /// Reads what the last relay left. Answers one line for everything damaged. Before `run()`.
    package func recover() async throws(EventLogError) -> [String] {
        precondition(phase == .new, "a relay recovers once")
        let limits = core.configuration.limits
        let recovered = try await log.recover(
            idempotencySince: wallClock.now() - limits.idempotency)
        var recovery = CoreRecovery()
        recovery.lastSeq = recovered.lastSeq
        recovery.lastFactSeq = recovered.lastFactSeq
        recovery.lastActivity = recovered.lastActivity
        recovery.heads = recovered.heads.map { head in
            (ActivityHead(activity: head.activity, value: head.value), head.version, head.seq)
        }
        recovery.records = recovered.records
        recovery.idempotency = recovered.idempotency.map {
            ($0.tenant, $0.key, $0.seq, $0.recordedAt)
        }
        let damage = core.recover(recovery, now: steadyNow())
        phase = .recovered
        return recovered.damage + damage
    }

    /// Stores batches until it is cancelled or the log fails. After `recover()`.
    package func run() async throws {
        precondition(phase == .recovered, "a relay runs once, after it has recovered")
        phase = .running
        scheduleTurn()
        defer { fail() }
        while !Task.isCancelled {
            if let batch = core.takeBatch(now: steadyNow(), writesAll: writesAll) {
                // Deadlines of destinations do not wait for the disk.
                setTimer(core.nextWake, now: steadyNow())
                let receipt = try await log.append(AppendBatch(batch), under: .sole)
                inbox.append(
                    .committed(firstSeq: receipt.firstSeq, firstFactSeq: receipt.firstFactSeq))
                turn()
            } else if writesAll {
                return
            } else {
                await appending.park()
            }
        }
    }

    /// Writes everything that waits, also what is written lazily, and lets `run()` return.
    package func finish() {
        writesAll = true
        appending.unpark()
    }

    package var isReady: Bool { phase == .running && !writesAll }

    private func fail() {
        phase = .failed
        let left = waiting.sorted { $0.key.rawValue < $1.key.rawValue }
        waiting = [:]
        for (_, waiter) in left { answer(waiter, Self.stopping) }
        wakeWatchers()
    }

    private static let stopping = Answer.refused(
        Refusal(.stopping, "the relay is stopping; whether this was stored is not known: ask again")
    )

    // MARK: Turns

    private func steadyNow() -> Instant { clock.steady(monotonic: loop.now.nanoseconds) }

    private func put(_ input: Input) {
        inbox.append(input)
        scheduleTurn()
    }

    private func scheduleTurn() {
        guard !isTurnDue else { return }
        isTurnDue = true
        loop.atEndOfTurn(self)
    }

    package nonisolated func turnEnded() {
        assumeIsolated { relay in
            relay.isTurnDue = false
            relay.turn()
        }
    }

    package nonisolated func timerFired() {
        assumeIsolated { relay in
            relay.timerAt = nil
            relay.turn()
        }
    }

    private func turn() {
        guard phase == .running else { return }
        var effects = Effects()
        let now = steadyNow()
        if clock.follow(wall: wallClock.now(), monotonic: loop.now.nanoseconds) {
            core.step(.clock(lead: clock.lead), now: now, effects: &effects)
        }
        let inputs = inbox
        inbox.removeAll()
        for input in inputs { core.step(input, now: now, effects: &effects) }
        if inputs.isEmpty { core.step(.tick, now: now, effects: &effects) }
        carryOut(effects)
        // A batch that is due is the appender's, not the timer's.
        let hasBatch = core.hasBatch(now: now)
        if hasBatch { appending.unpark() }
        setTimer(core.nextWake.flatMap { hasBatch && $0 <= now ? nil : $0 }, now: now)
        if !inputs.isEmpty { wakeWatchers() }
    }

    private func carryOut(_ effects: Effects) {
        for (ticket, answer) in effects.answers {
            if let waiter = waiting.removeValue(forKey: ticket) { self.answer(waiter, answer) }
        }
        for push in effects.pushes { sender.send(push) }
    }

    private func setTimer(_ wake: Instant?, now: Instant) {
        let next = wake.map { wake in
            loop.now + .nanoseconds(max(0, (wake - now).nanoseconds))
        }
        guard next != timerAt else { return }
        loop.cancel(timer)
        timerAt = next
        if let next { timer = loop.schedule(at: next, self) }
    }

    private func wakeWatchers() {
        let waking = watchers
        watchers = []
        for place in waking { place.unpark() }
    }

    private func answer(_ waiter: Waiter, _ answer: Answer) {
        switch waiter {
        case .one(let continuation): continuation.resume(returning: answer)
        case .part(let collection, let index): collection.set(answer, at: index)
        }
    }

    // MARK: What Apple says

    /// The outcome of one push; on the loop.
    package nonisolated func pushEnded(_ outcome: PushOutcome) {
        assumeIsolated { $0.put(.pushEnded(outcome)) }
    }

    /// How many pushes a lane may have in flight; on the loop.
    package nonisolated func capacityChanged(_ lane: LaneNumber, to count: Int) {
        assumeIsolated { $0.put(.capacity(lane, count)) }
    }

    // MARK: Asking

    func ask(_ input: (Ticket) -> Input) async -> Answer {
        guard isReady else { return Self.stopping }
        return await withUnsafeContinuation { continuation in
            lastTicket += 1
            let ticket = Ticket(lastTicket)
            waiting[ticket] = .one(continuation)
            put(input(ticket))
        }
    }

    /// One command; the answer comes when what it stored is durable.
    package func submit(_ command: Command) async -> Answer {
        await ask { .command(command, $0) }
    }

    /// Many commands in one turn, each for itself; answers in their order.
    package func submit(_ commands: [Command]) async -> [Answer] {
        guard isReady else { return commands.map { _ in Self.stopping } }
        guard !commands.isEmpty else { return [] }
        return await withUnsafeContinuation { continuation in
            let collection = AnswerCollection(commands.count, continuation)
            for (index, command) in commands.enumerated() {
                lastTicket += 1
                waiting[Ticket(lastTicket)] = .part(of: collection, index: index)
                put(.command(command, Ticket(lastTicket)))
            }
        }
    }

    /// All or none.
    package func submitAtomically(_ commands: [Command]) async -> Answer {
        await ask { .atomic(commands, $0) }
    }

    /// One end for every running activity that matches.
    package func endMany(_ request: EndMany) async -> Answer {
        await ask { .endMany(request, $0) }
    }

    /// What a device, or its backend, tells.
    package func submit(_ command: DeviceCommand, for device: DeviceKey) async -> Answer {
        await ask { .device(device, command, $0) }
    }

    /// Keeps an API key as the doors encoded it; nil deletes.
    package func storeKey(number: Int64, value: [UInt8]?) async -> Answer {
        await ask { .key(number: number, value: value, $0) }
    }

    // MARK: Reading

    /// One look at the core, now.
    func read<Value>(_ look: (Core, Instant) -> Value) -> Value { look(core, steadyNow()) }

    /// The durable state, with its clip sampled now.
    package func activity(_ key: ActivityKey) -> ActivityView? { core.view(key, now: steadyNow()) }

    /// A page of a tenant's activities in the order of their ids.
    package func activities(
        of tenant: TenantID, status: ActivityStatus?, type: String?, user: String?,
        after: Identifier?, limit: Int
    ) -> (views: [ActivityView], next: Identifier?) {
        core.views(
            of: tenant, status: status, type: type, user: user, after: after, limit: limit,
            now: steadyNow())
    }

    /// A device with its tokens; whoever shows it redacts them.
    package func device(_ key: DeviceKey) -> DeviceView? { core.view(key, now: steadyNow()) }

    /// API keys as the doors encoded them.
    package func keys() -> [(number: Int64, value: [UInt8])] { core.storedKeys }

    /// The id behind a number of the log; nil where it is not in memory, or another tenant's.
    package func activityName(_ number: ActivityNumber, tenant: TenantID) -> Identifier? {
        core.name(of: number, tenant: tenant)
    }

    /// The number behind an id, if the activity is in memory.
    package func activityNumber(_ key: ActivityKey) -> ActivityNumber? { core.number(of: key) }

    package var counters: CoreCounters { core.currentCounters }

    /// The newest durable sequence.
    package var lastSeq: Int64 { core.lastSeq }

    package var lastFactSeq: Int64 { core.lastFactSeq }

    /// Wall time as the relay counts it: what it records events with.
    package func wallNow() -> Instant { steadyNow() + clock.lead }

    /// A page of the log.
    package nonisolated(nonsending) func events(
        _ query: EventQuery
    ) async throws(EventLogError) -> EventPage { try await log.events(query) }

    /// A page of the facts.
    package nonisolated(nonsending) func facts(
        _ query: FactQuery
    ) async throws(EventLogError) -> FactPage { try await log.facts(query) }

    /// One event of the log.
    package nonisolated(nonsending) func event(
        seq: Int64, tenant: TenantID
    ) async throws(EventLogError) -> RecordedEvent? {
        try await log.event(seq: seq, tenant: tenant)
    }

    // MARK: Waiting

    /// Returns when a version is settled at every destination: taken by Apple, refused, or held by
    /// something that outlasts the deadline. At the deadline it returns what is.
    package func waitForDelivery(
        _ key: ActivityKey, version: Int64, deadline: MonotonicInstant
    ) async -> ActivityView? {
        while phase == .running, loop.now < deadline, !Task.isCancelled {
            let left = Span(nanoseconds: deadline.nanoseconds - loop.now.nanoseconds)
            if core.isSettled(key, version: version, until: steadyNow() + left) { break }
            await watch(until: deadline)
        }
        return activity(key)
    }

    /// Returns the newest durable sequence, as soon as it is beyond `seq`; at the deadline anyway.
    package func waitForCommit(after seq: Int64, deadline: MonotonicInstant) async -> Int64 {
        while phase == .running, core.lastSeq <= seq, loop.now < deadline, !Task.isCancelled {
            await watch(until: deadline)
        }
        return core.lastSeq
    }

    private func watch(until deadline: MonotonicInstant) async {
        let place = Parking(loop)
        watchers.append(place)
        if await place.park(until: deadline) != .signal { watchers.removeAll { $0 === place } }
    }
}

extension AppendBatch {
    init(_ batch: PendingBatch) {
        self.init()
        events = batch.events
        heads = batch.heads
        facts = batch.facts
        records = batch.records
    }
}
