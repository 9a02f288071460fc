/// All rules of the relay as one synchronous state machine.
///
/// It gets inputs and the time, and returns effects: answers to tickets, and pushes. It collects
/// changes for the log until the shell takes them (`takeBatch`), and acts on them only after the
/// shell reports that they are durable (`.committed`). It uses no I/O, no clock, and no randomness
/// except its seed. After a crash, `recover(_:now:)` restores it from the log.
///
/// ```swift
/// var core = Core(configuration: configuration, seed: 7)
/// var effects = Effects()
/// core.step(.command(command, Ticket(1)), now: now, effects: &effects)
/// if let batch = core.takeBatch(now: now) {
///     let receipt = append(batch)  // the log's
///     core.step(.committed(receipt), now: now, effects: &effects)
/// }
/// ```
///
/// Cost: most steps touch only one activity or destination. Each timer costs O(log n).
package struct Core: ~Copyable, Sendable {
    package let configuration: CoreConfiguration
    var chance: Chance

    var activities = ActivityTable()
    /// False while the disk is too full for events.
    var hasRoom = true
    var devices = DeviceTable()
    var startHistories = StartHistoryTable()
    var audiences = AudienceTable()
    var channels = ChannelTable()
    var destinations = DestinationTable()
    var upstreams: UpstreamTable
    var keys = KeyTable()
    var surfaces = SurfaceTable()
    var types = TypeTable()
    var timelines = TimelineTable()
    var deadLetters = DeadLetterTable()

    /// The operator's action that the next input carries out.
    var deed: (deed: Deed, ticket: Ticket)?

    /// Where the core writes what it works on, for the next process after a crash; nil: nowhere.
    package var workNote: WorkNote?
    /// True for the trial core of a dry run, which has no channels to check.
    var isTrial = false
    var journal: Journal
    var idempotency = IdempotencyIndex()
    package internal(set) var deliveryIDs = DeliveryIDs(KeyedHash(key0: 0, key1: 0))

    var pauses = PauseTable()
    var clock = CoreClock()
    var sweeps = Sweeps()
    var counters = CountersByTenant()

    /// - Parameter seed: for the random numbers in `apns-id`s and delays.
    package init(configuration: CoreConfiguration, seed: UInt64) {
        precondition(
            configuration.apps.count <= CoreConfiguration.appsMax, "the configuration is checked")
        self.configuration = configuration
        chance = Chance(seed)
        upstreams = UpstreamTable(count: configuration.apps.count)
        journal = Journal(
            flushDelay: configuration.limits.checkpointFlush,
            FactShares(configuration.factRoom, configuration.apps.map(\.tenant)))
    }

    /// Applies one input. `now` is monotonic time and never goes back.
    package mutating func step(_ input: Input, now: Instant, effects: inout Effects) {
        defer { workNote?.set(nil) }
        switch input {
        case .command(let command, let ticket):
            takeCommand(command, ticket, now: now)
        case .atomic(let commands, let ticket):
            takeAtomically(commands, ticket, now: now)
        case .endMany(let request, let ticket):
            endMany(request, ticket, now: now)
        case .device(let key, let command, let ticket, let authority):
            takeDeviceCommand(command, for: key, by: authority, ticket, now: now)
        case .keys(let stored, let ticket): keep(stored, ticket)
        case .pause(let command, let tenant, let ticket, let key):
            takePauseCommand(command, of: tenant, by: key, ticket, now: now)
        case .deed(let next, let ticket):
            return adopt(next, ticket, now: now)
        case .erase(let subject, let ticket):
            erase(subject, ticket, now: now)
        case .type(let type, let name, let app, let tenant, let ticket):
            put(type, named: name, app: app, tenant: tenant, ticket, now: now)
        case .channel(let command, let ticket):
            takeChannelCommand(command, ticket, now: now)
        case .reload(let request, let tenant, let ticket):
            takeReloadRequest(request, of: tenant, ticket, now: now)
        case .timeline(let command, let tenant, let ticket):
            takeTimelineCommand(command, of: tenant, ticket, now: now)
        case .retry(let query, let ticket):
            retry(query, ticket, now: now)
        case .committed(let commit):
            committed(commit, now: now, effects: &effects)
        case .pushEnded(let outcome):
            pushEnded(outcome, now: now, effects: &effects)
        case .capacity(let upstream, let count):
            guard upstreams.holds(upstream) else { return }
            upstreams[upstream].setCapacity(count)
            upstreams.wake(upstream)
            lookAtWoken(.turns, now: now, effects: &effects)
            // Other upstreams may get their inputs in this turn, too, so due things wait.
            return
        case .probe(let upstream) where upstreams.holds(upstream):
            upstreams[upstream].tryNow(now)
            upstreams.wake(upstream)
        case .clock(let lead, let isBehind):
            clock.isBehind = isBehind
            // Timestamps may only be as far ahead as the next relay would know after a crash.
            followClock(to: lead, now: now, &effects.budget.sweep)
            return
        case .room(let isThere):
            // Handle it before the other inputs of this turn, like `.clock`.
            hasRoom = isThere
            return
        case .remembered(let head):
            remember(head, now: now)
        case .tick, .probe: break
        }
        if deed != nil { settleDeed(now: now) }
        wakeUp(now: now, effects: &effects)
        journal.moveAnswers(to: &effects.answers)
    }

    /// When `tick` is due if no other input comes. A time in the past means: now.
    package var nextWake: Instant? {
        var next = min(
            destinations.deadlines.first ?? .distantFuture,
            journal.retiresMuch
                ? .distantFuture
                : activities.nextRetirement(configuration.limits) ?? .distantFuture,
            activities.silences.first ?? .distantFuture,
            devices.deadlines.first ?? .distantFuture,
            devices.orphanDeadlines.first ?? .distantFuture,
            surfaces.deadlines.first ?? .distantFuture, sweeps.dueAt ?? .distantFuture,
            journal.leftOutDueAt ?? .distantFuture)
        // Timelines are due by wall time: a change of the wall clock changes the monotonic time.
        if let due = timelines.nextDue { next = min(next, clock.steady(due)) }
        if timelines.hasMoved || upstreams.firstWoken != nil || channels.hasWoken
            || surfaces.hasWishes
        {
            next = .distantPast
        }
        for upstream in upstreams.numbers where upstreams[upstream].hasWaiting {
            if let probe = upstreams[upstream].probeAt { next = min(next, probe) }
        }
        // While a batch is being written or is due already, its commit is the next input.
        if let flush = journal.flushAt { next = min(next, flush) }
        return next == .distantFuture ? nil : next
    }

    /// The wall time at a monotonic time, as in timestamps and records.
    package func wall(_ now: Instant) -> Instant { clock.wall(now) }

    /// The latest wall time that timestamps may have until a newer reading of the clock is durable.
    package var tellsThrough: Instant {
        get { clock.tellsThrough }
        set { clock.tellsThrough = newValue }
    }

    func time(_ now: Instant) -> DeliveryTime { DeliveryTime(now: now, lead: clock.lead) }

    private mutating func wakeUp(now: Instant, effects: inout Effects) {
        sweep(now: now, &effects.budget.sweep)
        endSilent(now: now)
        lookAtWoken(.all, now: now, effects: &effects)
        if timelines.hasMoved || timelines.nextDue.map({ $0 <= wall(now) }) == true {
            askForTimelines(now: now)
        }
        retire(now: now, &effects.budget.retirement)
        journal.sayWhatIsLeftOut(clock, now: now)
        upstreams.wakeWaiting()
        lookAtWoken(.turns, now: now, effects: &effects)
    }
}
