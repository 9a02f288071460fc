import TomboloJSON

/// What a history would have been under other grants. Its events run through the core of a relay,
/// on virtual time. Apple and the phones are simulated and answer at once.
///
/// The devices are those at the end of the history. Each may have any card, and none has its app in
/// front. Apple accepts each push and makes each channel. Refusals, losses and pauses of the past
/// are not repeated, so two replays differ only by their grants. Frames of an endless loop count
/// until the last event of the history, those of other clips until their ends.
package struct GrantReplay: ~Copyable, Sendable {
    /// The core that runs the replay, with its apps, budgets and limits.
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
    /// When each version of an activity was recorded; the first element is for version 1.
    private var times: [ActivityKey: [Instant]] = [:]
    private var upstreams: [TypeOfTenant: Bool] = [:]
    private var channels = 0
    /// When the newest event of the history was recorded, of any activity.
    private var last: Instant?
    /// True after the end of the history: from then on, frames of endless loops do not count.
    private var isOver = false

    private struct TypeOfTenant: Hashable {
        var tenant: TenantID
        var type: String
    }

    /// Time after the last event, in which waiting changes may still be sent.
    private static let settling = Span.hours(1)

    /// - Parameters:
    ///   - configuration: has the grants to try. Apps that only records name are added to it.
    ///   - records: the devices and types that the log has now.
    ///   - names: the ids of activities, as far as known.
    ///   - only: replays only this activity; nil: all.
    ///   - budgetClass: the class of all devices; nil: each has its own.
    ///   - speed: factor for the speed of the events: 10 is ten times as fast. Above 0.
    package init(
        configuration: CoreConfiguration, records: [Record],
        names: [ActivityNumber: Identifier], only: ActivityNumber?,
        budgetClass: BudgetClass? = nil, speed: Double = 1
    ) {
        var configuration = configuration
        // If an activity left memory, its next event would have version 1, and its counts would be
        // lost.
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

    /// Adds the app that a device names; for a device that names none, an app with any id.
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

    /// Applies the next event of the history. Events must come in the order of the log.
    package mutating func apply(_ recorded: RecordedEvent) {
        let event = recorded.event
        last = max(last ?? event.recordedAt, event.recordedAt)
        if let only, event.activity != only { return }
        guard let document = try? JSONDocument(event.body),  // counted as set aside
            let content = try? Command.Content(  // the same
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

    /// Ends the history: lets waiting changes be sent, and counts everything.
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

    /// Frames of the running clips for which `which` is true, until now.
    private func frames(of which: (Clip) -> Bool) -> FrameCounts {
        core.destinations.indices.reduce(FrameCounts()) { sum, slot in
            guard let cursor = core.destinations.at(slot)?.cursor, which(cursor.playing.clip) else {
                return sum
            }
            return sum + cursor.counts(at: core.wall(now))
        }
    }

    // MARK: Time

    /// The virtual time for an event that was recorded at this time. Virtual time never goes back.
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

    /// True if a change waits, or a clip has not played to its end.
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

    /// Writes all batches, like a disk without delay.
    ///
    /// - Parameter writesAll: true to write also what could wait.
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

    /// Lets Apple accept all pushes. A new card then sends its update token, unless it listens on a
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

    /// Makes the channel that a start names, because the log may not have it any more.
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

    /// Gives every device of the tenant a token for starts of this type.
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

/// What a replay has counted, over all destinations.
package struct GrantReplayOutcome: Sendable {
    package fileprivate(set) var events: Int64 = 0
    package fileprivate(set) var activities: Int64 = 0
    package fileprivate(set) var devices = 0
    /// Events that could not be replayed: they are damaged, or their activity began before the
    /// history.
    package fileprivate(set) var setAside: Int64 = 0
    /// Virtual time from the first event to the last.
    package fileprivate(set) var span = Span.zero
    /// Number of pushes that were not only frames; `framePushes` counts the others.
    package fileprivate(set) var pushes: Int64 = 0
    package fileprivate(set) var framePushes: Int64 = 0
    package fileprivate(set) var highPriority: Int64 = 0
    package fileprivate(set) var lowPriority: Int64 = 0
    /// Events by decision. An event counts once for each destination.
    package fileprivate(set) var decisions = EventCounts()
    /// Events that were still undecided an hour after the last event.
    package fileprivate(set) var waiting: Int64 = 0
    package fileprivate(set) var frames = FrameCounts()
    /// Time from the record of an event until the phone had its state or a newer one.
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
    /// True if the phone has the event's state or a newer one after this decision.
    fileprivate var isOnPhone: Bool {
        switch self {
        case .sent, .merged, .unchanged, .superseded, .notVisible: true
        // For `onChannel`, the channel's own destination counts.
        case .annihilated, .noRoute, .expired, .refused, .onChannel, .startWait: false
        }
    }
}
