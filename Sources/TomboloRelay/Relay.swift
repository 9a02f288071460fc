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
    /// Large reads and pieces of long work: one a turn of the loop, by who asks.
    package nonisolated let pieces: TurnGate<String>
    nonisolated let followers: Followers
    let log: any EventLog
    private let sender: any PushSender
    private let trapped: [WorkNote.Subject: Int]
    /// Who makes the channels that the core asks for; none: it gets none.
    let channels: (any ChannelService)?
    /// Lanes that wait for one, in the order of asking.
    var channelWishes: [LaneNumber] = []
    let channelMaking: Parking
    let wallClock: any WallClock
    var core: Core
    var clock: RelayClock
    var clockWritten: RelayClock.Reading?
    private var inbox: [Input] = []
    /// Requests that wait for the next batch.
    private var held = HeldRequests()
    /// Those of the turn that is under way; kept for its memory.
    private var taken: [Input] = []
    /// A burst of more gives its memory back.
    private static let takenKeptMax = 4_096
    private var isTurnDue = false
    var waiting: [Ticket: Waiter] = [:]
    var lastTicket: UInt64 = 0
    var watchers: [Parking] = []
    /// The relay is about to stop, and nobody waits for a delivery any more.
    var waitsAreOver = false
    private let appending: Parking
    private var timer = TimerID()
    private var timerAt: MonotonicInstant?
    private(set) var phase = Phase.new
    /// What the start found out is durable, and the core has it.
    private(set) var hasTurned = false
    private(set) var writesAll = false
    /// When facts were written last because somebody asked for them.
    var settledAt = Instant.distantPast
    /// As they were when somebody looked last.
    var (hadRoom, wasSetBack) = (true, false)
    /// What would make room, while the log has none.
    var roomHint: String?
    let report: @Sendable (OperatorNote) -> Void
    var fetches = WidgetFetches()
    /// The newest note of each lane that had one.
    var laneNotes: [LaneNumber: OperatorNote] = [:]
    /// Of each lane whose pushes wait: since when, and the newest cause.
    var laneTroubles: [LaneNumber: UpstreamTrouble] = [:]
    /// By lane.
    var meters: [UpstreamMeter]
    package internal(set) var commitTimes = DurationHistogram()
    /// Rows and keys that were found damaged at the start, and lines of the log's own that an
    /// operator has had.
    var (damageAtStart, damageTold) = (0, 0)
    var silence = LogSilence()

    enum Phase { case new, recovered, running, failed }

    /// Inputs that wait for the end of the turn, and requests that wait for their answer.
    var backlog: (inbox: Int, unanswered: Int) {
        (inbox.count + held.count, waiting.count)
    }

    /// Who waits for an answer.
    enum Waiter {
        case one(UnsafeContinuation<Answer, Never>)
        case part(of: AnswerCollection, index: Int)
    }

    package nonisolated var unownedExecutor: UnownedSerialExecutor {
        loop.asUnownedSerialExecutor()
    }

    /// - Parameters:
    ///   - seed: of all the chance there is.
    ///   - trapped: what processes before have trapped over, and how often: it is set aside.
    ///   - workNote: where the core notes what it works on.
    ///   - refusalReasons: the reasons of Apple's that are counted by their names.
    ///   - report: gets what an operator has to know: each change of health, and its cause.
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

    /// Reads what the last relay left. Answers one line for everything damaged. Before `run()`.
    package func recover() async throws(EventLogError) -> [String] {
        precondition(phase == .new, "a relay recovers once")
        // Which keys are old is for the steady clock to say, and its reading is in the log.
        let recovered = try await log.recover(idempotencySince: .distantPast)
        // Read anew: the log may have taken its time.
        let last = recovered.records.lazy.compactMap(RelayClock.Reading.init(record:)).first
        let hasLost = last == nil && recovered.records.contains(where: RelayClock.Reading.isRecord)
        clock = RelayClock(
            wall: wallClock.now(), monotonic: loop.now.nanoseconds, boot: wallClock.boot,
            after: last)
        var recovery = CoreRecovery()
        (recovery.lead, recovery.clockStep) = (clock.lead, clock.stepAtStart)
        recovery.leads = clock.leads
        // Where the reading is lost, nobody knows how far a card that was ahead has come.
        recovery.before =
            hasLost
            ? .init(reading: .distantPast, toldThrough: .distantPast + RelayClock.reach)
            : clock.before
        recovery.tellsThrough = last?.toldThrough ?? .distantPast
        recovery.lastSeq = recovered.lastSeq
        recovery.lastFactSeq = recovered.lastFactSeq
        recovery.lastActivity = recovered.lastActivity
        recovery.places = recovered.places
        recovery.heads = recovered.heads.map(PlacedHead.init)
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

    /// Stores batches until it is cancelled or the log fails. After `recover()`.
    package func run() async throws {
        precondition(phase == .recovered, "a relay runs once, after it has recovered")
        defer { fail() }
        // Before the first timestamp: whoever comes after a crash must know how far they can have
        // come. With it goes what recovery has found out, or the next one would not know it any
        // more.
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

    /// Stores the clock, and with it what recovery has found out. A log without room is waited for
    /// only where there is something that would be lost.
    private func begin(_ found: AppendBatch?) async throws {
        let batch = withClock(found ?? AppendBatch())
        guard found != nil else {
            switch await attempt(batch) {
            case .success: noteStoredClock()
            case .failure(.full): clockWritten = nil
            case .failure(let error): throw error
            }
            return
        }
        let receipt = try await store(batch)
        inbox.append(.committed(receipt))
    }

    /// Writes everything that waits, also what is written lazily, and lets `run()` return.
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

    /// The time that nobody sets: it goes on where the relay before was, and never jumps.
    package func steadyNow() -> Instant {
        return clock.steady(monotonic: loop.now.nanoseconds)
    }

    func put(_ input: Input) {
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
        defer { taken.removeAll(keepingCapacity: taken.count <= Self.takenKeptMax) }
        let isEmpty = taken.isEmpty
        if !isEmpty {
            core.step(.room(lookForRoom()), now: now, effects: &effects)
        }
        while !Self.isFull(&core), let input = held.popFirst() {
            core.step(input, now: now, effects: &effects)
        }
        for input in taken {
            guard input.isRequest, !held.isEmpty || Self.isFull(&core) else {
                core.step(input, now: now, effects: &effects)
                continue
            }
            // A disk that is so slow is an answer, too.
            if let ticket = held.append(input) {
                effects.answers.append((ticket, .refused(Core.isBehind)))
            }
        }
        if isEmpty { core.step(.tick, now: now, effects: &effects) }
        carryOut(effects, now: now)
        if followers.followFacts { core.writeFacts(at: now + Self.followedWithin) }
        // A batch that is due is the appender's, not the timer's.
        let (hasBatch, wake) = Self.next(of: &core, now: now)
        if hasBatch { appending.unpark() }
        setTimer(wake.flatMap { hasBatch && $0 <= now ? nil : $0 }, now: now)
        if !isEmpty { wakeWatchers() }
        hasTurned = true
    }

    /// What comes next. The core is lent: a copy, which is what a look at an actor's member is,
    /// counts references to all that it holds, and would cost more than many a turn.
    private static func next(of core: inout Core, now: Instant) -> (Bool, wake: Instant?) {
        (core.hasBatch(now: now), core.nextWake)
    }

    /// Whether the next batch takes no more requests; the core is lent, as above.
    private static func isFull(_ core: inout Core) -> Bool { core.hasFullBatch }

    private func carryOut(_ effects: Effects, now: Instant) {
        for (ticket, answer) in effects.answers {
            if let waiter = waiting.removeValue(forKey: ticket) { self.answer(waiter, answer) }
        }
        if !effects.pushes.isEmpty { measure(effects.pushes, now: now) }
        for push in effects.pushes { sender.send(push) }
        if !effects.channels.isEmpty { wish(effects.channels) }
        if !effects.lanes.isEmpty { report(effects.lanes) }
    }

    /// The machine's clock is looked at each minute, whatever else is due.
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

    func answer(_ waiter: Waiter, _ answer: Answer) {
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

    // MARK: Asking

    /// - Parameter deed: stored with what the input stores.
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
