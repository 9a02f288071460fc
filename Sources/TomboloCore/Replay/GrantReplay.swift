import TomboloJSON

/// The result of a history under other grants: its events run through the same core as in a relay,
/// on virtual time, to phones that answer at once.
///
/// Devices are as registered at the end of the history. Each allows every activity and is never in
/// front, and Apple takes every push and makes every channel. Past refusals, losses and pauses are
/// not repeated, so two replays differ only by their grants. Frames of a looping clip are counted
/// until the history's last event, those of any other clip until its end.
package struct GrantReplay: Sendable {
    /// Apps, budgets and limits of the replay.
    private var core: Core
    private let speed: Double
    private let only: ActivityNumber?
    private var now = Instant(nanoseconds: 0)
    private var first: Instant?
    private var ticket: UInt64 = 0
    private var seq: Int64 = 0
    private var factSeq: Int64 = 0
    private var outcome = GrantReplayOutcome()
    private var names: [ActivityNumber: Identifier] = [:]
    /// When each version of an activity was recorded; the first is version 1.
    private var times: [ActivityKey: [Instant]] = [:]
    private var upstreams: [TypeOfTenant: Bool] = [:]
    private var channels = 0
    /// When the history's newest event was recorded, of whatever activity.
    private var last: Instant?
    /// The history is over: loops go on but no longer count.
    private var isOver = false

    private struct TypeOfTenant: Hashable {
        var tenant: TenantID
        var type: String
    }

    /// Time after the last event for what still waits.
    private static let settling = Span.hours(1)

    /// - Parameters:
    ///   - configuration: contains the grants to try; apps that records name are added.
    ///   - records: devices and types, as they are in the log now.
    ///   - names: the names of activities, if known.
    ///   - only: the one activity to replay; nil means all.
    ///   - budgetClass: the class of every device; nil leaves each device its own.
    ///   - speed: with 10, the events come ten times as fast as they did; above 0.
    package init(
        configuration: CoreConfiguration, records: [Record],
        names: [ActivityNumber: Identifier], only: ActivityNumber?,
        budgetClass: BudgetClass? = nil, speed: Double = 1
    ) {
        var configuration = configuration
        // An activity that left memory would begin again at version 1 and lose its counts.
        configuration.limits.endedKept = .hours(24 * 3_650)
        let devices = records.filter { $0.space == .device }.compactMap { record in
            record.value.flatMap { Device(record: $0, number: record.number) }
        }.filter { $0.leavingUntil == nil }
        for device in devices {
            Self.add(
                device.registration.app, device.registration.environment, device.key.tenant,
                to: &configuration)
        }
        core = Core(configuration: configuration, seed: 1)
        self.names = names
        self.only = only
        self.speed = speed
        for upstream in configuration.apps.indices {
            step(.capacity(UpstreamNumber(Int32(upstream)), .max))
        }
        core.isTrial = true
        var recovery = CoreRecovery()
        recovery.records = records.filter { $0.space == .type }
        _ = core.recover(recovery, now: now)
        for device in devices {
            var registration = device.registration
            if let budgetClass {
                registration.budgetClass = budgetClass
                registration.frequentUpdates = true
            }
            tell(.register(registration), device.key)
        }
        outcome.devices = devices.count
    }

    /// Adds the app that a device names, or a stand-in for devices that name none.
    private static func add(
        _ id: String?, _ environment: APNsEnvironment?, _ tenant: TenantID,
        to configuration: inout CoreConfiguration
    ) {
        let isKnown = configuration.apps.contains {
            $0.tenant == tenant && (id == nil || $0.id == id)
                && (environment == nil || $0.environment == environment)
        }
        guard !isKnown else { return }
        configuration.apps.append(
            CoreConfiguration.App(
                tenant: tenant, id: id ?? "app", environment: environment ?? .production,
                allowsLab: true))
    }

    /// Takes the next event of the history; events come in the order of their sequences.
    package mutating func take(_ recorded: RecordedEvent) {
        let event = recorded.event
        last = max(last ?? event.recordedAt, event.recordedAt)
        if let only, event.activity != only { return }
        guard let document = try? JSONDocument(event.body),  // set aside and counted
            let content = try? Command.Content(  // as above
                kind: event.kind, document.root, envelope: ["id", "activity", "do"], lenient: true)
        else {
            outcome.setAside += 1
            return
        }
        let name = names[event.activity] ?? Identifier("activity-\(event.activity.rawValue)")
        guard let name else { return }
        let key = ActivityKey(tenant: event.tenant, id: name)
        advance(to: moment(event.recordedAt))
        if case .start(let start) = content {
            arm(start.type, event.tenant)
            openChannel(of: start, event.tenant)
        }
        var command = Command(activity: key, content: content, body: event.body)
        command.restart = true
        let before = core.counters[event.tenant].eventsAccepted
        step(.command(command, nextTicket()))
        guard core.counters[event.tenant].eventsAccepted > before else {
            outcome.setAside += 1
            return
        }
        outcome.events += 1
        if times[key] == nil { outcome.activities += 1 }
        times[key, default: []].append(now)
        settle()
        if case .start(let start) = content, start.route == .adopt { adopt(key) }
    }

    /// Ends the history: waiting changes get their time, and everything is counted.
    package mutating func finish() -> GrantReplayOutcome {
        outcome.span = first.map { now - $0 } ?? .zero
        if first != nil, let last { advance(to: moment(last)) }
        isOver = true
        let loops = frames { $0.duration == nil }
        let end = now + Self.settling
        while isBehind, let wake = core.nextWake, wake <= end { advance(to: wake) }
        settle(writesAll: true)
        outcome.frames = core.destinations.indices.reduce(loops + frames { $0.duration != nil }) {
            $0 + (core.destinations.at($1)?.frames ?? FrameCounts())
        }
        outcome.waiting = core.destinations.indices.reduce(0) { $0 + waiting($1) }
        return outcome
    }

    /// Frames of the running clips up to now.
    private func frames(of which: (Clip) -> Bool) -> FrameCounts {
        core.destinations.indices.reduce(FrameCounts()) { sum, slot in
            guard let cursor = core.destinations.at(slot)?.cursor, which(cursor.playing.clip) else {
                return sum
            }
            return sum + cursor.counts(at: core.wall(now))
        }
    }

    // MARK: Time

    /// The time in the replay for an event recorded at that time; time never goes back.
    private mutating func moment(_ recordedAt: Instant) -> Instant {
        let first = first ?? recordedAt
        if self.first == nil {
            self.first = first
            now = max(now, first)
        }
        let elapsed = Double((recordedAt - first).nanoseconds) / speed
        return max(now, first + Span(nanoseconds: Int64(elapsed)))
    }

    private mutating func advance(to instant: Instant) {
        while let wake = core.nextWake, wake <= instant {
            now = max(now, wake)
            step(.tick)
            settle()
        }
        now = max(now, instant)
    }

    /// Whether anything still waits, or plays to its end.
    private var isBehind: Bool {
        core.destinations.indices.contains { slot in
            if waiting(slot) > 0 { return true }
            guard let destination = core.destinations.at(slot), destination.phase == .live,
                let cursor = destination.cursor, cursor.playing.clip.duration != nil
            else { return false }
            return !cursor.isOver(at: core.wall(now)) || !cursor.hasShownEnd
        }
    }

    private func waiting(_ slot: CardSlot) -> Int64 {
        guard let destination = core.destinations.at(slot), !destination.isFinished,
            let version = core.projection(slot)?.version
        else { return 0 }
        return destination.ledger.waiting(at: version)
    }

    // MARK: The world around the core

    private mutating func nextTicket() -> Ticket {
        ticket += 1
        return Ticket(ticket)
    }

    private mutating func tell(_ command: DeviceCommand, _ key: DeviceKey) {
        step(.device(key, command, nextTicket()))
        settle()
    }

    private mutating func step(_ input: Input) {
        var effects = Effects()
        core.step(input, now: now, effects: &effects)
        answer(effects.pushes)
        for upstream in effects.channels { make(nil, in: upstream) }
    }

    /// Writes all batches, as a disk without delay.
    ///
    /// - Parameter writesAll: whether lazily written records are written too.
    private mutating func settle(writesAll: Bool = false) {
        while let batch = core.takeBatch(now: now, writesAll: writesAll) {
            for fact in batch.facts { count(fact) }
            let (firstSeq, firstFact) = (seq + 1, factSeq + 1)
            seq += Int64(batch.events.count)
            factSeq += Int64(batch.facts.count)
            step(
                .committed(
                    AppendReceipt(firstSeq: firstSeq, firstFactSeq: firstFact, of: batch)))
        }
    }

    /// Apple takes everything at once, and a new card registers its token unless it listens on a
    /// channel.
    private mutating func answer(_ pushes: [Push]) {
        for push in pushes {
            if case .card(let slot) = push.id.turn { count(push, of: slot) }
            step(.pushEnded(PushOutcome(push: push.id, result: .accepted, took: .zero)))
            if case .card(let slot) = push.id.turn, push.event == .start,
                core.destinations.at(slot)?.phase != .listening
            {
                register(slot)
            }
        }
    }

    private mutating func count(_ push: Push, of slot: CardSlot) {
        let isFrame = core.destinations.at(slot)?.inFlight?.isFrame == true
        if isOver, isFrame, core.destinations.at(slot)?.cursor?.playing.clip.duration == nil {
            return
        }
        if isFrame { outcome.framePushes += 1 } else { outcome.pushes += 1 }
        if push.priority == 10 { outcome.highPriority += 1 } else { outcome.lowPriority += 1 }
    }

    /// Opens the channel that a start names, because it may be gone by now.
    private mutating func openChannel(of start: Start, _ tenant: TenantID) {
        guard case .channel(let name) = start.audience,
            let app = start.app ?? core.configuration.onlyApp(of: tenant),
            let upstream = core.configuration.upstream(tenant: tenant, app: app, environment: nil),
            core.channel(ChannelKey(tenant: tenant, name: name)) == nil
        else { return }
        make(name, in: upstream)
        settle()
    }

    private mutating func make(_ name: Identifier?, in upstream: UpstreamNumber) {
        let app = core.configuration[upstream]
        channels += 1
        let channel = Channel(
            tenant: app.tenant, app: app.id, environment: app.environment, name: name,
            id: "replay-\(channels)", storage: .mostRecent)
        step(.channel(.made(channel), nil))
    }

    private mutating func register(_ slot: CardSlot) {
        guard let destination = core.destinations.at(slot),
            let device = core.devices[destination.device]
        else { return }
        let token = TokenRegistration(token: hex(destination.number), observedAt: nil)
        step(
            .device(
                device.key, .putToken(.activity(core.reference(destination)), token),
                nextTicket()))
    }

    private mutating func adopt(_ key: ActivityKey) {
        guard let slot = core.activities.slot(of: key) else { return }
        for destination in core.activities[slot].destinations { register(destination) }
        settle()
    }

    /// Lets every device start cards of a type that the history starts.
    private mutating func arm(_ type: String, _ tenant: TenantID) {
        guard upstreams.updateValue(true, forKey: TypeOfTenant(tenant: tenant, type: type)) == nil
        else { return }
        for case let device? in core.devices where device.key.tenant == tenant {
            let token = TokenRegistration(token: "aa" + hex(device.number), observedAt: nil)
            tell(.putToken(.start(type: type), token), device.key)
        }
    }

    private func hex(_ number: Int64) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: max(0, 16 - digits.count)) + digits
    }

    // MARK: Counting

    private mutating func count(_ fact: NewFact) {
        guard let record = DeliveryRecord(fact), let decided = record.decided,
            let decision = record.decision
        else { return }
        outcome.count(decision, of: Int64(decided.count))
        guard decision.isOnPhone,
            let name = fact.activity.flatMap({ core.name(of: $0, tenant: fact.tenant) }),
            let times = times[ActivityKey(tenant: fact.tenant, id: name)]
        else { return }
        for version in decided where version >= 1 && version <= times.count {
            outcome.lags.add(fact.recordedAt - times[Int(version) - 1])
        }
    }
}

/// The result of a history under one set of grants, over all destinations.
package struct GrantReplayOutcome: Sendable {
    package fileprivate(set) var events: Int64 = 0
    package fileprivate(set) var activities: Int64 = 0
    package fileprivate(set) var devices = 0
    /// Rows that could not be replayed: damaged, or the beginning of their activity is cut off.
    package fileprivate(set) var setAside: Int64 = 0
    /// From the first event to the last, in replay time.
    package fileprivate(set) var span = Span.zero
    /// Pushes other than frames of a clip; `framePushes` counts the frames.
    package fileprivate(set) var pushes: Int64 = 0
    package fileprivate(set) var framePushes: Int64 = 0
    package fileprivate(set) var highPriority: Int64 = 0
    package fileprivate(set) var lowPriority: Int64 = 0
    /// Events by their decision; each counts once for each destination.
    package fileprivate(set) var decisions = EventCounts()
    /// Events still undecided an hour after the last event.
    package fileprivate(set) var waiting: Int64 = 0
    package fileprivate(set) var frames = FrameCounts()
    /// Time from the record of an event until a phone had its state or a newer one.
    package fileprivate(set) var lags = LagHistogram()

    fileprivate mutating func count(_ decision: EventDecision, of count: Int64) {
        guard !decision.isForAll else {
            decisions.add(count, decision)
            return
        }
        decisions.merged += count - 1
        decisions.add(1, decision)
    }
}

extension EventDecision {
    /// Whether the phone has the event's state or a newer one after this decision.
    fileprivate var isOnPhone: Bool {
        switch self {
        case .sent, .merged, .unchanged, .superseded, .notVisible: true
        // The channel's own destination counts.
        case .annihilated, .noRoute, .expired, .refused, .onChannel, .startWait: false
        }
    }
}
