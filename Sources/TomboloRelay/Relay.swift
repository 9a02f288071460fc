package import TomboloCore
package import TomboloEventLog
package import TomboloLoop

/// The shell around the core. It passes inputs to the core in turns, and carries out the effects.
///
/// One turn covers everything between two waits of the loop: first the core takes the whole inbox,
/// then answers are given, pushes are sent and the timer is set. `turn()` has no `await`, so
/// nothing can happen between a check and the wait after it. Durable changes go to the log one
/// batch at a time. While one batch is written, the next one collects changes: this is group
/// commit, without a delay when idle.
///
/// If the log fails, `run()` throws and nothing more is accepted: the state on disk is unknown
/// until a new start (`recover`) reads it.
///
/// ```swift
/// let relay = Relay(
///     loop: loop, log: log, sender: sender, configuration: configuration,
///     wallClock: wallClock, seed: seed)
/// for line in try await relay.recover() { print(line) }  // what was set aside
/// try await withThrowingTaskGroup(of: Void.self) { group in
///     group.addTask(executorPreference: loop) { try await relay.run() }
///     let answer = await relay.submit(command)  // .accepted: durable
///     print(answer)
///     await relay.finish()
///     try await group.waitForAll()
/// }
/// ```
package actor Relay: TurnTarget, TimerTarget {
    package nonisolated let loop: any Loop
    /// Lets large reads and pieces of long work through, one in each turn. Callers alternate.
    package nonisolated let pieces: TurnGate<String>
    nonisolated let followers: Followers
    let log: any EventLog
    private let sender: any PushSender
    private let trapped: [WorkNote.Subject: Int]
    /// Creates the channels that the core requests; nil: no channel can be created.
    let channels: (any ChannelService)?
    /// Upstreams that wait for a channel, in the order of their requests.
    var channelWishes: [UpstreamNumber] = []
    let channelMaking: Parking
    let wallClock: any WallClock
    var core: Core
    var clock: RelayClock
    var clockWritten: RelayClock.Reading?
    private var inbox: [Input] = []
    /// Requests that wait for space in the next batch.
    private var held = HeldRequests()
    /// Inputs of the current turn. The array is kept to reuse its memory.
    private var taken: [Input] = []
    /// If a turn had more inputs than this, the memory is released.
    private static let takenKeptMax = 4_096
    private var isTurnDue = false
    var waiting: [Ticket: Waiter] = [:]
    var lastTicket: UInt64 = 0
    var watchers: [Parking] = []
    /// True if the relay will stop soon, so that waits for deliveries must end.
    var waitsAreOver = false
    private let appending: Parking
    private var timer = TimerID()
    private var timerAt: MonotonicInstant?
    private(set) var phase = Phase.new
    /// True once the core has taken its first turn.
    private(set) var hasTurned = false
    private(set) var writesAll = false
    /// When facts were last written because a caller waited for them.
    var settledAt = Instant.distantPast
    /// Values at the last check, to notice changes.
    var (hadRoom, wasSetBack) = (true, false)
    /// Why the log stores nothing now, while the relay tries again; else nil.
    var refusing: EventLogError?
    let report: @Sendable (OperatorNote) -> Void
    var fetches = WidgetFetches()
    var upstreamNotes: [UpstreamNumber: OperatorNote] = [:]
    /// For each upstream whose pushes wait: since when, and the newest cause.
    var upstreamTroubles: [UpstreamNumber: UpstreamTrouble] = [:]
    var meters: [UpstreamMeter]
    package internal(set) var commitTimes = DurationHistogram()
    /// Number of rows and keys that were damaged at the start, and of damage lines reported since.
    var (damageAtStart, damageTold) = (0, 0)
    var silence = LogSilence()

    enum Phase { case new, recovered, running, failed }

    /// Number of inputs that the next turn takes, and of requests that wait for their answers.
    var backlog: (inbox: Int, unanswered: Int) {
        (inbox.count + held.count, waiting.count)
    }

    /// A caller that waits for an answer.
    enum Waiter {
        case one(UnsafeContinuation<Answer, Never>)
        case part(of: AnswerCollection, index: Int)
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - seed: seed of all random numbers.
    ///   - trapped: for each subject, how often earlier processes crashed while they worked on it.
    ///     Such subjects are set aside.
    ///   - workNote: where the core records the subject on which it works.
    ///   - refusalReasons: Apple's reasons that get a counter of their own.
    ///   - report: called with notes for the operator: each change of health, and its cause.
    package init(
        loop: any Loop, log: any EventLog, sender: any PushSender,
        configuration: CoreConfiguration, wallClock: any WallClock, seed: UInt64,
        channels: (any ChannelService)? = nil, trapped: [WorkNote.Subject: Int] = [:],
        workNote: WorkNote? = nil, refusalReasons: [String] = [],
        report: @escaping @Sendable (OperatorNote) -> Void = { _ in }
    ) {
        self.report = report
        meters = configuration.apps.map { _ in UpstreamMeter(reasons: refusalReasons) }
        self.loop = loop
        pieces = TurnGate(perTurn: 1, on: loop)
        followers = Followers(on: loop)
        self.log = log
        self.sender = sender
        self.channels = channels
        channelMaking = Parking(loop)
        self.wallClock = wallClock
        core = Core(configuration: configuration, seed: seed)
        core.workNote = workNote
        self.trapped = trapped
        clock = RelayClock(wall: wallClock.now(), monotonic: loop.now.nanoseconds)
        appending = Parking(loop)
    }

    // MARK: Life

    /// Reads the state that the last relay process left. Returns a line for each damaged item. Call
    /// it before `run()`.
    package func recover() async throws(EventLogError) -> [String] {
        precondition(phase == .new, "a relay recovers once")
        // Select old keys later: their age depends on the steady clock, whose time is in the log.
        let recovered = try await log.recover(idempotencySince: .distantPast)
        // Read the clock after the log, because reading the log may have taken long.
        let last = recovered.records.lazy.compactMap(RelayClock.Reading.init(record:)).first
        let hasLost = last == nil && recovered.records.contains(where: RelayClock.Reading.isRecord)
        clock = RelayClock(
            wall: wallClock.now(), monotonic: loop.now.nanoseconds, boot: wallClock.boot,
            after: last, elsewhere: last.flatMap { wallClock.monotonic(ofBoot: $0.boot) })
        var recovery = CoreRecovery()
        recovery.lead = clock.lead
        recovery.leads = clock.leads
        // If the clock's reading is lost, timestamps on cards may be far ahead: assume the maximum.
        recovery.before =
            hasLost
            ? .init(reading: .distantPast, toldThrough: .distantPast + RelayClock.reach)
            : clock.before
        recovery.tellsThrough = last?.toldThrough ?? .distantPast
        recovery.lastSeq = recovered.lastSeq
        recovery.lastFactSeq = recovered.lastFactSeq
        recovery.lastActivity = recovered.lastActivity
        recovery.places = recovered.places
        recovery.heads = recovered.heads.map(PositionedHead.init)
        recovery.damaged = recovered.damaged
        recovery.trapped = trapped
        recovery.records = recovered.records
        recovery.hasRetired = recovered.hasRetired
        recovery.restoredAt = recovered.restoredAt
        recovery.idempotency = recovered.idempotency
        let damage = core.recover(recovery, now: steadyNow())
        compareClock(wallClock.now())
        phase = .recovered
        let lines = recovered.damage + damage + (hasLost ? [Self.clockLost] : [])
        damageAtStart = lines.count
        reportJump(clock.stepAtStart)
        reportLag(clock.stepAtStart)
        return lines
    }

    /// Stores batches until the task is cancelled or the log fails. Call it after `recover()`.
    package func run() async throws {
        precondition(phase == .recovered, "a relay runs once, after it has recovered")
        defer { fail() }
        // Store the clock before the first timestamp is sent: after a crash, the next process must
        // know how far timestamps may have advanced. Store the results of recovery too, or the next
        // process would lose them.
        let found = core.takeBatch(now: steadyNow(), writesAll: true)
        try await begin(found)
        phase = .running
        noteStart()
        scheduleTurn()
        while !Task.isCancelled {
            if let batch = core.takeBatch(now: steadyNow(), writesAll: writesAll) {
                if !held.isEmpty { scheduleTurn() }
                let receipt = try await store(withClock(batch))
                inbox.append(.committed(receipt))
                turn()
                wakeFollowers(batch, receipt)
            } else if writesAll {
                guard clockWritten?.isLast != true else { return }
                _ = try await store(withClock(AppendBatch(), isLast: true))
            } else {
                await appending.park()
            }
        }
    }

    /// Stores the clock and the results of recovery. If the log is full, waits only if there are
    /// results, because these would be lost.
    private func begin(_ found: AppendBatch?) async throws {
        let batch = withClock(found ?? AppendBatch())
        guard found != nil else {
            switch await attempt(batch) {
            case .success: noteStoredClock()
            case .failure(let error):
                guard error.mayPass else { throw error }
                clockWritten = nil
            }
            return
        }
        let receipt = try await store(batch)
        inbox.append(.committed(receipt))
    }

    /// Stores everything that waits, even facts that would be written later. Then `run()` returns.
    package func finish() {
        if !writesAll { noteStop() }
        writesAll = true
        appending.unpark()
    }

    private func fail() {
        phase = .failed
        let left = waiting.sorted { $0.key.rawValue < $1.key.rawValue }
        waiting = [:]
        for (_, waiter) in left { answer(waiter, Self.stopping) }
        wakeWatchers()
        followers.wakeAll()
    }

    // MARK: Turns

    /// The steady time. It continues from the previous relay process and never jumps.
    package func steadyNow() -> Instant {
        return clock.steady(monotonic: loop.now.nanoseconds)
    }

    func put(_ input: consuming Input) {
        inbox.append(input)
        scheduleTurn()
    }

    func scheduleTurn() {
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
        if silence.fallsSilent(loop.now) { fallSilent() }
        var effects = Effects()
        let now = steadyNow()
        if followClock() { core.step(clockInput, now: now, effects: &effects) }
        swap(&inbox, &taken)
        let isEmpty = taken.isEmpty
        let isKept = taken.count <= Self.takenKeptMax
        if !isEmpty {
            core.step(.room(lookForRoom()), now: now, effects: &effects)
        }
        while !Self.isFull(&core), let input = held.popFirst() {
            core.step(input, now: now, effects: &effects)
        }
        // From the end, inputs are taken out of an array without a copy.
        taken.reverse()
        while let input = taken.popLast() {
            guard input.isRequest, !held.isEmpty || Self.isFull(&core) else {
                core.step(input, now: now, effects: &effects)
                continue
            }
            // No more requests may wait, because the log is too slow: refuse this one.
            if let ticket = held.append(input) {
                effects.answers.append((ticket, .refused(Core.isBehind)))
            }
        }
        if !isKept { taken = [] }
        if isEmpty { core.step(.tick, now: now, effects: &effects) }
        carryOut(effects, now: now)
        if followers.followFacts { core.writeFacts(at: now + Self.followedWithin) }
        // A batch that is due is stored by `run`, so it needs no timer.
        let (hasBatch, wake) = Self.next(of: &core, now: now)
        if hasBatch { appending.unpark() }
        setTimer(wake.flatMap { hasBatch && $0 <= now ? nil : $0 }, now: now)
        if !isEmpty { wakeWatchers() }
        hasTurned = true
    }

    /// Whether a batch is due, and the next wake time. The core is passed inout: reading an actor's
    /// member would copy it. A copy retains all that the core holds and costs more than many turns.
    private static func next(of core: inout Core, now: Instant) -> (Bool, wake: Instant?) {
        (core.hasBatch(now: now), core.nextWake)
    }

    /// True if the next batch has no space for more requests. For `inout` see `next(of:now:)`.
    private static func isFull(_ core: inout Core) -> Bool { core.hasFullBatch }

    private func carryOut(_ effects: consuming Effects, now: Instant) {
        effects.answers.reverse()
        while let (ticket, answer) = effects.answers.popLast() {
            if let waiter = waiting.removeValue(forKey: ticket) { self.answer(waiter, answer) }
        }
        if !effects.pushes.isEmpty { measure(effects.pushes, now: now) }
        for push in effects.pushes { sender.send(push) }
        if !effects.channels.isEmpty { wish(effects.channels) }
        if !effects.upstreams.isEmpty { report(effects.upstreams) }
    }

    /// Sets the timer. It fires at least once a minute, to check the machine's clock.
    func setTimer(_ wake: Instant?, now: Instant) {
        var next = RelayClock.nextLook(after: loop.now.nanoseconds)
        if let wake { next = min(next, loop.now.nanoseconds + max(0, (wake - now).nanoseconds)) }
        if let deadline = silence.deadline { next = min(next, deadline) }
        let at = MonotonicInstant(nanoseconds: next)
        guard at != timerAt else { return }
        loop.cancel(timer)
        (timerAt, timer) = (at, loop.schedule(at: at, self))
    }

    func wakeWatchers() {
        let waking = watchers
        watchers = []
        for place in waking { place.unpark() }
    }

    func answer(_ waiter: Waiter, _ answer: consuming Answer) {
        switch waiter {
        case .one(let continuation): continuation.resume(returning: answer)
        case .part(let collection, let index): collection.set(answer, at: index)
        }
    }

    // MARK: Outcomes

    /// Passes the outcome of a push to the core. Call it on the loop.
    package nonisolated func pushEnded(_ outcome: PushOutcome) {
        assumeIsolated { $0.put(.pushEnded(outcome)) }
    }

    // MARK: Asking

    /// - Parameter deed: an operator's action that is stored together with the input's changes.
    func ask(deed: Deed? = nil, _ input: (Ticket) -> Input) async -> Answer {
        if let refusalOfAll { return refusalOfAll }
        return await withUnsafeContinuation { continuation in
            lastTicket += 1
            let ticket = Ticket(lastTicket)
            waiting[ticket] = .one(continuation)
            if let deed { put(.deed(deed, ticket)) }
            put(input(ticket))
        }
    }
}
