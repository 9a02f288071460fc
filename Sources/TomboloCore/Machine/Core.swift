/// What is true and what should happen next: the whole of the relay's rules as one synchronous
/// machine.
///
/// It gets inputs and the time, and answers with effects: answers for tickets, and pushes. What is
/// to be stored it collects until the shell asks for it (`takeBatch`), and acts on it only when it
/// is told that it is durable (`.committed`). No I/O, no clock, no chance but the one it was given.
/// A crash is dropping this value; `init(recovered:)` is all that comes after.
///
/// Cost: a step touches the one activity or destination that it is about; time costs O(log n) a
/// wake-up.
package struct Core: Sendable {
    package let configuration: CoreConfiguration
    var chance: Chance

    var activities = InPlaceArray<Activity>()
    var freeActivities: [Int] = []
    /// When ended activities leave memory.
    var retirements = DeadlineHeap()
    /// Some have left: the log may know activities that are not here.
    var hasRetired = false
    /// False while the disk is too full for events.
    var hasRoom = true
    var activityByKey: [ActivityKey: Int] = [:]
    var activityByNumber: [ActivityNumber: Int] = [:]
    /// Set aside at start-up.
    var damaged: [ActivityKey: SetAside] = [:]
    var devices = DeviceTable()
    var deviceByKey: [DeviceKey: Int] = [:]
    var registrations = RegistrationPool()
    /// Devices by their tokens.
    var tokenHolders: [TokenPlace: Int] = [:]
    var startHistories: [StartHistory.Key: StartHistory] = [:]
    var destinations = SlotTable<Destination>()
    var lanes: [Lane]
    var deadlines = DeadlineHeap()
    /// When a device's lease or grace is over, by its slot.
    var deviceDeadlines = DeadlineHeap()
    /// When tokens that wait for their activity are forgotten, by device slot.
    var orphanDeadlines = DeadlineHeap()
    /// Of devices that are not registered: who is keeps its own.
    var audienceByDevice: [DeviceKey: SlotList] = [:]
    var audienceByUser: [UserKey: [Int]] = [:]
    var devicesByUser: [UserKey: [Int]] = [:]
    var coming = ComingStarts()
    var population = Population()
    /// Who leaves memory early where cards have no room.
    var ended: [TenantID: EndedQueue] = [:]
    var keys: [Int64: [UInt8]] = [:]
    /// Places among `devices`.
    var channelByKey: [ChannelKey: Int] = [:]
    /// Widgets and controls of devices.
    var surfaces: [ReloadSurface] = []
    var freeSurfaces: [Int] = []
    var surfaceDeadlines = DeadlineHeap()
    var channelPools: [LaneNumber: ChannelPool] = [:]
    var types: [ActivityType.Key: RegisteredType] = [:]
    var timelines = TimelineTable()
    /// The state that was looked at last for what of it is visible.
    var lastVisible: VisibleState?
    var deadLetters: [DeadLetter] = []
    var deadLetterCounts: [TenantID: Int] = [:]

    /// Of the input that comes next.
    var deed: (deed: Deed, ticket: Ticket)?

    /// Where it notes what it works on; nil: nowhere.
    package var workNote: WorkNote?
    /// It is no relay's: channels that it does not know are no reason to refuse.
    var isTrial = false
    var staged = Staged()
    var committing: Staged?
    var idempotency = IdempotencyIndex()
    package internal(set) var deliveryIDs = DeliveryIDs(KeyedHash(key0: 0, key1: 0))

    var nextActivityNumber: Int64 = 1
    var nextDeviceNumber: Int64 = 1
    var nextStartHistory: Int64 = 1
    var nextDestinationNumber: Int64 = 1
    var nextPauseNumber: Int64 = 1
    /// In force, by number.
    var pauses: [Int64: Pause] = [:]
    var sweeps = Sweeps()
    var nextTypeNumber: Int64 = 1
    var nextChannelNumber: Int64 = 1
    var nextDeadLetter: Int64 = 1
    var pushCounter: UInt64 = 0
    /// Wall time runs ahead of steady time by this (`RelayClock`).
    var lead = Span.zero
    var leads = LeadHistory()
    /// When the log was put back, by wall time: what was due before that may have gone.
    var restoredAt: Instant?
    /// No later wall time goes into a timestamp until a newer reading of the clock is on record.
    package var tellsThrough = Instant.distantFuture
    /// The newest durable sequences.
    package internal(set) var lastSeq: Int64 = 0
    package internal(set) var lastFactSeq: Int64 = 0
    /// The newest durable event of each tenant, among its own.
    var tenantSeqs: [TenantID: Int64] = [:]
    var counters = CountersByTenant()
    /// What a tenant's own things are numbered by: a number over all would tell of the others.
    var serials = SerialsByTenant()
    /// How much of the history each tenant uses up.
    var factShares: FactShares

    /// A user of one tenant.
    struct UserKey: Hashable, Sendable {
        var tenant: TenantID
        var user: String

        static func == (one: UserKey, other: UserKey) -> Bool {
            isSameText(one.user, other.user) && one.tenant == other.tenant
        }

        func hash(into hasher: inout Hasher) {
            hasher.combine(tenant)
            var user = user
            user.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    /// - Parameters:
    ///   - seed: of the chance that makes `apns-id`s and jitter.
    package init(configuration: CoreConfiguration, seed: UInt64) {
        precondition(
            configuration.apps.count <= CoreConfiguration.appsMax, "the configuration is checked")
        self.configuration = configuration
        chance = Chance(seed)
        lanes = configuration.apps.map { _ in Lane() }
        factShares = FactShares(configuration.factRoom, configuration.apps.map(\.tenant))
        leads.note(lead, at: .distantPast)
    }

    /// One input at one moment of steady time, which never goes back.
    package mutating func step(_ input: Input, now: Instant, effects: inout Effects) {
        defer { workNote?.set(nil) }
        switch input {
        case .command(let command, let ticket):
            take(command, ticket, now: now, effects: &effects)
        case .atomic(let commands, let ticket):
            takeAtomically(commands, ticket, now: now, effects: &effects)
        case .endMany(let request, let ticket):
            endMany(request, ticket, now: now, effects: &effects)
        case .device(let key, let command, let ticket, let authority):
            take(command, for: key, by: authority, ticket, now: now, effects: &effects)
        case .keys(let stored, let ticket): keep(stored, ticket)
        case .pause(let command, let tenant, let ticket, let key):
            take(command, of: tenant, by: key, ticket, now: now, effects: &effects)
        case .deed(let next, let ticket):
            return adopt(next, ticket, now: now)
        case .erase(let subject, let ticket):
            erase(subject, ticket, now: now, effects: &effects)
        case .type(let type, let name, let app, let tenant, let ticket):
            put(type, named: name, app: app, tenant: tenant, ticket, now: now, effects: &effects)
        case .channel(let command, let ticket):
            take(command, ticket, now: now, effects: &effects)
        case .reload(let request, let tenant, let ticket):
            take(request, of: tenant, ticket, now: now, effects: &effects)
        case .timeline(let command, let tenant, let ticket):
            take(command, of: tenant, ticket, now: now, effects: &effects)
        case .retry(let query, let ticket):
            retry(query, ticket, now: now, effects: &effects)
        case .committed(let commit):
            committed(commit, now: now, effects: &effects)
        case .pushEnded(let outcome):
            pushEnded(outcome, now: now, effects: &effects)
        case .capacity(let lane, let count):
            guard lanes.indices.contains(Int(lane.rawValue)) else { return }
            lanes[Int(lane.rawValue)].setCapacity(count)
            serve(lane, now: now, effects: &effects)
            // Another lane may be told in the same turn: nothing that is due goes before.
            return
        case .probe(let lane):
            probe(lane, now: now, effects: &effects)
        case .clock(let lead):
            // Timestamps run ahead by it only as far as the next relay would know.
            followClock(to: lead, now: now)
            return
        case .room(let isThere):
            // As the clock it goes before others in a turn: what they say comes before what is due.
            hasRoom = isThere
            return
        case .remembered(let head):
            remember(head, now: now)
        case .tick: break
        }
        if deed != nil { settleDeed(effects, now: now) }
        wakeUp(now: now, effects: &effects)
    }

    /// When `tick` is due, if nothing else comes. An instant that has passed means that a batch
    /// waits to be taken.
    package var nextWake: Instant? {
        var next = min(
            deadlines.first ?? .distantFuture, retirements.first ?? .distantFuture,
            deviceDeadlines.first ?? .distantFuture, orphanDeadlines.first ?? .distantFuture,
            surfaceDeadlines.first ?? .distantFuture, sweeps.dueAt ?? .distantFuture,
            factShares.dueAt ?? .distantFuture)
        // By wall time: where the clock is set, what is due by it moves.
        if let due = timelines.nextDue { next = min(next, due - lead) }
        if timelines.hasMoved { next = .distantPast }
        for lane in lanes where lane.hasWaiting {
            if let probe = lane.probeAt { next = min(next, probe) }
        }
        // While a batch is on its way, or already due, the commit is what comes next.
        if committing == nil, !staged.isUrgent, let flush = staged.flushAt {
            next = min(next, flush)
        }
        return next == .distantFuture ? nil : next
    }

    /// With so many pushes in a turn, what else is due waits for the next one: these are written
    /// meanwhile, and the peer works on them while the relay works on the next. Thousands in one
    /// turn would leave the caches between their making and their writing, and the later a relay
    /// is, the slower it would get.
    package static let pushesPerTurnMax = 128

    /// Wall time, as it goes into timestamps and records.
    package func wall(_ now: Instant) -> Instant { now + lead }

    func time(_ now: Instant) -> DeliveryTime { DeliveryTime(now: now, lead: lead) }

    private mutating func wakeUp(now: Instant, effects: inout Effects) {
        sweep(now: now, effects: &effects)
        while let slot = deviceDeadlines.pop(until: now) {
            presenceChanged(slot, now: now, effects: &effects)
        }
        while effects.pushes.count < Self.pushesPerTurnMax, let slot = deadlines.pop(until: now) {
            guard let all = inTurn(slot, now: now) else {
                evaluate(slot, now: now, effects: &effects)
                continue
            }
            for slot in all { evaluate(slot, now: now, effects: &effects) }
        }
        while let slot = surfaceDeadlines.pop(until: now) {
            evaluateSurface(slot, now: now, effects: &effects)
        }
        if timelines.hasMoved || timelines.nextDue.map({ $0 <= wall(now) }) == true {
            askForTimelines(now: now)
        }
        while let slot = orphanDeadlines.pop(until: now) { sweepOrphans(of: slot, now: now) }
        retire(now: now)
        if factShares.dueAt != nil { sayWhatIsLeftOut(now: now) }
        for index in lanes.indices where lanes[index].hasWaiting {
            serve(LaneNumber(Int32(index)), now: now, effects: &effects)
        }
    }
}

/// A seeded generator (SplitMix64): all the chance that the core knows.
package struct Chance: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// The same seed gives the same numbers, on every machine.
    package init(_ seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// 0 up to 1.
    mutating func fraction() -> Double { Double(next() >> 11) / Double(1 << 53) }
}
