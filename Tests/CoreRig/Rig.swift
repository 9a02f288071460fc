import Testing
package import TomboloCore
package import TomboloJSON

/// The core on virtual time, with a disk that is instant unless told otherwise and an Apple that
/// does as scripted.
///
/// `line` is the marble diagram of what was pushed: `second:event priority(what)`, in order.
package struct Rig: ~Copyable {
    package static let epoch = Instant(seconds: 1_700_000_000)
    package static let tenant = TenantID(Identifier("main")!)

    package var core: Core
    package var now = Rig.epoch
    package var pushes: [(at: Span, push: Push)] = []
    package var answers: [Answer] = []
    package var notices: [UpstreamNotice] = []
    /// What Apple answers; nil leaves the push in flight.
    package var verdict: (Push) -> PushResult? = { _ in .accepted }
    /// Whether batches become durable by themselves.
    package var commitsByItself = true
    package var flying: [Push] = []
    /// Whether Apple makes the channels that the core asks for: `private-1`, `private-2` …
    package var makesChannels = false
    package var channelWishes = 0
    private var seq: Int64 = 0
    private var factSeq: Int64 = 0
    private var ticket: UInt64 = 0
    package private(set) var stored: [Record] = []
    package private(set) var facts: [NewFact] = []
    package private(set) var history: [RecordedEvent] = []
    package private(set) var heads: [ActivityNumber: (ActivityHead, Int64, Int64)] = [:]
    private var pending: AppendBatch?
    /// False in a test that breaks the core's laws by hand.
    package var keepsLaws = true
    /// False in random histories, whose crashes have a test of their own (`RestartProofTests`).
    package var provesRestarts = true
    private var laws = CoreLaws()
    private var looks = 0
    /// The pushes of one step are carried out in an order that their own says nothing of.
    package var isUnordered = false

    package init(_ change: (inout CoreConfiguration) -> Void = { _ in }) {
        core = Core(configuration: Self.configuration(change), seed: 7)
        core.setCapacityForTests(1_000)
    }

    package static func configuration(
        _ change: (inout CoreConfiguration) -> Void = { _ in }
    ) -> CoreConfiguration {
        var configuration = CoreConfiguration(apps: [
            CoreConfiguration.App(
                tenant: tenant, id: "com.example.app", environment: .sandbox, allowsLab: true)
        ])
        change(&configuration)
        return configuration
    }

    // MARK: Time

    package mutating func step(_ input: Input) {
        var effects = Effects()
        core.step(input, now: now, effects: &effects)
        checkLaws()
        carryOut(effects)
        if commitsByItself { while commit() {} }
    }

    /// Goes on to `seconds` after the epoch, waking the core whenever it asked for it.
    package mutating func advance(to seconds: Double) {
        let end = Rig.epoch + Span(nanoseconds: Int64(seconds * 1e9))
        var wakes = 0
        while let wake = core.nextWake, wake <= end {
            now = max(now, wake)
            step(.tick)
            wakes += 1
            if wakes > 200_000 {
                Issue.record("the core wakes without end at \(now.rfc3339)")
                return
            }
        }
        now = max(now, end)
    }

    /// Stops the test if a law of the core does not hold. In a large core, or after many steps, it
    /// looks only at each 256th step.
    private mutating func checkLaws() {
        looks += 1
        let places = core.places
        let isLarge = max(places.destinations, places.devices) > 200 || looks > 2_000
        guard keepsLaws, !isLarge || looks % 256 == 1 else { return }
        if isLarge { laws = CoreLaws() }
        let broken = laws.broken(in: core, now: now)
        // An optimised build does not print why a precondition failed.
        if !broken.isEmpty { Issue.record("\(now.rfc3339): the core breaks its laws: \(broken)") }
        precondition(broken.isEmpty, "\(now.rfc3339): the core breaks its laws: \(broken)")
    }

    // MARK: The disk

    package mutating func take() -> Bool {
        guard pending == nil, let batch = core.takeBatch(now: now) else { return false }
        pending = batch
        return true
    }

    /// Makes what waits durable. Answers false where nothing waits.
    @discardableResult
    package mutating func commit() -> Bool {
        guard take() || pending != nil, let batch = pending else { return false }
        pending = nil
        let first = seq + 1
        for (index, event) in batch.events.enumerated() {
            history.append(RecordedEvent(seq: first + Int64(index), previous: 0, event: event))
        }
        seq += Int64(batch.events.count)
        for head in batch.heads {
            let version = batch.events.last { $0.activity == head.activity }
                .map { $0.expectedVersion + 1 }
            let last = heads[head.activity]
            heads[head.activity] = (head, version ?? last?.1 ?? 0, seq)
        }
        stored += batch.records
        let firstFact = factSeq + 1
        factSeq += Int64(batch.facts.count)
        facts += batch.facts
        var effects = Effects()
        core.step(
            .committed(AppendReceipt(firstSeq: first, firstFactSeq: firstFact, of: batch)),
            now: now, effects: &effects)
        checkLaws()
        carryOut(effects)
        return true
    }

    /// Everything in memory is gone; what was durable comes back at `seconds`.
    package mutating func crash(
        recoverAt seconds: Double, restored: Bool = false
    ) -> [String] {
        now = max(now, Rig.epoch + Span(nanoseconds: Int64(seconds * 1e9)))
        var recovery = recovery()
        if restored { recovery.restoredAt = now }
        return recover(recovery)
    }

    /// What is durable now.
    package func recovery() -> CoreRecovery {
        var recovery = CoreRecovery()
        recovery.heads = heads.values.map {
            PositionedHead($0.0, version: $0.1, seq: $0.2)
        }
        recovery.lastSeq = seq
        recovery.lastFactSeq = factSeq
        var newest: [String: Record] = [:]
        for record in stored { newest["\(record.space) \(record.number)"] = record }
        recovery.records = newest.values.filter { $0.value != nil }
        recovery.before = .init(
            reading: core.wall(now), toldThrough: core.wall(now), steadyThrough: now)
        return recovery
    }

    /// Everything in memory is gone; this comes back.
    ///
    /// - Parameter stores: what recovery has found out is durable before anything else, as a relay
    ///   has it.
    @discardableResult
    package mutating func recover(_ recovery: CoreRecovery, stores: Bool = false) -> [String] {
        pending = nil
        flying = []
        let configuration = core.configuration
        core = Core(configuration: configuration, seed: 8)
        core.setCapacityForTests(1_000)
        let damage = core.recover(recovery, now: now)
        proveRestart(recovery)
        (laws, looks) = (CoreLaws(), 0)
        checkLaws()
        if stores {
            pending = core.takeBatch(now: now, writesAll: true)
            commit()
        }
        step(.tick)
        return damage
    }

    /// Fails if a recovered field is not on record, or is another one after one more recovery, and
    /// no table says why. A large core takes too long.
    private func proveRestart(_ recovery: CoreRecovery) {
        #if DEBUG
        let places = core.places
        guard provesRestarts, keepsLaws, max(places.destinations, places.devices) <= 200 else {
            return
        }
        let fields = RestartProof(configuration: core.configuration).withoutRow(recovery, now: now)
        if !fields.isEmpty { Issue.record("RestartProof has no row for \(fields)") }
        #endif
    }

    /// Another machine with the same disk, clock and Apple. Its core knows nothing yet.
    package func twin() -> Rig {
        let configuration = core.configuration
        var twin = Rig { $0 = configuration }
        (twin.now, twin.verdict, twin.makesChannels) = (now, verdict, makesChannels)
        twin.keepsLaws = keepsLaws
        (twin.seq, twin.factSeq, twin.ticket) = (seq, factSeq, ticket)
        (twin.stored, twin.facts, twin.history, twin.heads) = (stored, facts, history, heads)
        return twin
    }

    // MARK: Apple

    private mutating func carryOut(_ effects: Effects) {
        answers += effects.answers.map(\.1)
        notices += effects.upstreams
        let sent = isUnordered ? effects.pushes.sorted(by: Self.comesBefore) : effects.pushes
        for push in sent {
            pushes.append((now - Rig.epoch, push))
            if let result = verdict(push) { answer(push, result) } else { flying.append(push) }
        }
        for _ in effects.channels {
            channelWishes += 1
            guard makesChannels else { continue }
            let id = "private-\(channelWishes)"
            step(.channel(.made(Self.channel(nil, id, .mostRecent)), nil))
        }
    }

    private static func channel(
        _ name: String?, _ id: String, _ storage: Channel.Storage
    ) -> Channel {
        Channel(
            tenant: tenant, app: "com.example.app", environment: .sandbox,
            name: name.flatMap(Identifier.init), id: id, storage: storage)
    }

    /// A channel that Apple has made for a producer.
    package mutating func channel(
        _ name: String, _ id: String, _ storage: Channel.Storage = .mostRecent
    ) {
        ticket += 1
        step(.channel(.made(Self.channel(name, id, storage)), Ticket(ticket)))
    }

    package mutating func answer(_ push: Push, _ result: PushResult, took: Span = .zero) {
        flying.removeAll { $0.id == push.id }
        var effects = Effects()
        core.step(
            .pushEnded(PushOutcome(push: push.id, result: result, took: took)), now: now,
            effects: &effects)
        checkLaws()
        carryOut(effects)
    }

    // MARK: Producers and phones

    /// Somebody wants a reload: of widgets, or of a control.
    package mutating func reload(_ body: String, control: String? = nil) {
        guard
            let request = try? ReloadRequest(  // a test's own text
                reading: Self.json(body), control: control)
        else {
            Issue.record("\(body)")
            return
        }
        ticket += 1
        step(.reload(request, Rig.tenant, Ticket(ticket)))
    }

    package mutating func command(
        _ kind: EventKind, _ body: String, id: String = "cat",
        _ change: (inout Command) -> Void = { _ in }
    ) {
        do {
            var command = try Command(kind, body, id: id)
            change(&command)
            ticket += 1
            step(.command(command, Ticket(ticket)))
        } catch {
            Issue.record("\(body): \(error)")
        }
    }

    package mutating func device(
        _ id: String = "phone", _ budgetClass: BudgetClass = .standard, user: String? = nil,
        os: String? = nil
    ) {
        var fields = "{\"frequent_updates\":true,\"budget_class\":\"\(budgetClass.name)\""
        // The whole registration: what is not given is forgotten.
        fields += ",\"user\":" + (user.map { "\"\($0)\"" } ?? "null")
        fields += ",\"os\":" + (os.map { "\"\($0)\"" } ?? "null")
        // A test's own text: if it cannot be read, the test is wrong, and says so.
        guard let registration = try? DeviceRegistration(reading: Self.json(fields + "}"))
        else {
            Issue.record("\(fields)")
            return
        }
        tell(.register(registration), id)
    }

    package mutating func token(_ name: String, _ token: String, _ device: String = "phone") {
        let fields = Self.json("{\"token\":\"\(token)\"}")
        guard let registration = try? TokenRegistration(reading: fields) else {  // as above
            Issue.record("\(token)")
            return
        }
        tell(.putToken(TokenName(name)!, registration), device)
    }

    package mutating func deleteToken(
        _ name: String, _ token: String, _ device: String = "phone"
    ) {
        tell(.deleteToken(TokenName(name)!, TokenRegistration(token: token)), device)
    }

    package static func json(_ text: String) -> JSONView {
        JSON(unchecked: Array(text.utf8)).document.root
    }

    /// The phone's word on its card.
    package mutating func report(_ card: String, _ body: String, _ device: String = "phone") {
        guard let report = try? PhoneReport(reading: Self.json(body)) else {  // a test's own text
            Issue.record("\(body)")
            return
        }
        tell(.report(ActivityReference(card)!, report), device)
    }

    package mutating func tell(
        _ command: DeviceCommand, _ device: String = "phone",
        by authority: DeviceAuthority = .operate
    ) {
        ticket += 1
        let key = DeviceKey(tenant: Rig.tenant, id: Identifier(device)!)
        step(.device(key, command, Ticket(ticket), by: authority))
    }

    /// A phone with its tokens, and an activity that runs on it, started at second 0.
    package mutating func runningActivity(_ budgetClass: BudgetClass = .standard) {
        device("phone", budgetClass)
        token("start:Runner", "aa")
        start()
        token("activity:cat", "bb")
    }

    // MARK: What can be seen

    /// Pushes since the marble `from`, as `1:U5{"lap":1}`.
    package func line(from: Int = 0) -> String {
        pushes.dropFirst(from).map { at, push in
            "\(Self.text(at)):\(Self.letter(push.event))\(push.priority)\(Self.state(push))"
        }.joined(separator: " ")
    }

    package static func text(_ span: Span) -> String {
        let milliseconds = (span.nanoseconds + 500_000) / 1_000_000
        if milliseconds % 1_000 == 0 { return "\(milliseconds / 1_000)" }
        return "\(Double(milliseconds) / 1_000)"
    }

    package static func letter(_ event: Push.Event) -> String {
        switch event {
        case .start: "S"
        case .update: "U"
        case .end: "E"
        }
    }

    package static func state(_ push: Push) -> String {
        guard let document = try? JSONDocument(push.payload),  // a test reads what the core wrote
            let state = document.root["aps"]?["content-state"]
        else { return "?" }
        return String(decoding: state.raw, as: UTF8.self)
    }

    package static func aps(_ push: Push) -> JSONView? {
        JSON(unchecked: push.payload).document.root["aps"]
    }

    package func view(_ id: String = "cat") -> ActivityView? {
        core.view(ActivityKey(tenant: Rig.tenant, id: Identifier(id)!), now: now)
    }

    package var lastRefused: Refusal? { answers.last?.refused }
    package var lastRefusal: Refusal.Code? { lastRefused?.code }
    package var lastStored: Stored? { answers.last?.stored }

    package var lastReplay: Int64? {
        if case .replay(let seq)? = answers.last { seq } else { nil }
    }

    package var lastAcceptedAll: [Accepted]? {
        if case .acceptedAll(let all)? = answers.last { all } else { nil }
    }

    package var lastAccepted: Accepted? {
        if case .accepted(let accepted)? = answers.last { accepted } else { nil }
    }
}

extension Answer {
    package var refused: Refusal? {
        if case .refused(let refusal) = self { refusal } else { nil }
    }

    /// The command of a batch that was not taken, and why.
    package var refusedBatch: (index: Int, refusal: Refusal)? {
        if case .refusedBatch(let index, let refusal) = self { (index, refusal) } else { nil }
    }

    package var stored: Stored? {
        if case .stored(let stored) = self { stored } else { nil }
    }
}

extension Core {
    package mutating func setCapacityForTests(_ count: Int) {
        var effects = Effects()
        for upstream in configuration.apps.indices {
            step(
                .capacity(UpstreamNumber(Int32(upstream)), count), now: Rig.epoch, effects: &effects
            )
        }
    }
}
