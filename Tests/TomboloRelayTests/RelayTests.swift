import Glibc
import Synchronization
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloJSON
import TomboloLoop
import TomboloRelay

/// The shell on the real loop, with the log in memory and an Apple that answers at the end of the
/// turn.
@Suite struct RelayTests {
    static let tenant = TenantID(Identifier("main")!)

    /// Answers every push with what it is told to.
    final class ScriptedApple: PushSender, TurnTarget, @unchecked Sendable {
        // Sendable: used on the loop's thread only.
        private let loop: any Loop
        weak var relay: Relay?
        var result = PushResult.accepted
        private(set) var pushes: [Push] = []
        private var unanswered: [Push] = []

        init(_ loop: any Loop) { self.loop = loop }

        func send(_ push: Push) {
            pushes.append(push)
            unanswered.append(push)
            if unanswered.count == 1 { loop.atEndOfTurn(self) }
        }

        func turnEnded() {
            let batch = unanswered
            unanswered = []
            for push in batch {
                relay?.pushEnded(PushOutcome(push: push.id, result: result, took: .milliseconds(1)))
            }
        }
    }

    struct MachineClock: WallClock {
        func now() -> Instant {
            var time = timespec()
            clock_gettime(CLOCK_REALTIME, &time)
            return Instant(seconds: Int64(time.tv_sec)) + Span(nanoseconds: Int64(time.tv_nsec))
        }
    }

    /// Runs a relay on a loop, and `body` beside it.
    static func with(
        _ log: any EventLog = InMemoryEventLog(),
        report: @escaping @Sendable (OperatorNote) -> Void = { _ in },
        _ body: @escaping @Sendable (Relay, ScriptedApple) async throws -> Void
    ) throws {
        try EpollLoop.run { loop in
            let apple = ScriptedApple(loop)
            let app = CoreConfiguration.App(
                tenant: tenant, id: "com.example.app", environment: .sandbox, allowsLab: true)
            let relay = Relay(
                loop: loop, log: log, sender: apple, configuration: CoreConfiguration(apps: [app]),
                wallClock: MachineClock(), seed: 1, report: report)
            apple.relay = relay
            #expect(try await relay.recover().isEmpty)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: loop) { try await relay.run() }
                while await !relay.isReady { await Task.yield() }
                await relay.capacity(100)
                try await body(relay, apple)
                await relay.finish()
                try await group.waitForAll()
            }
        }
    }

    static func command(_ kind: EventKind, _ id: String, _ body: String) throws -> Command {
        let document = try JSONDocument(Array(body.utf8))
        return Command(
            activity: ActivityKey(tenant: tenant, id: Identifier(id)!),
            content: try .init(kind: kind, document.root), body: document.bytes)
    }

    static func equip(_ relay: Relay, _ device: String) async throws {
        let key = DeviceKey(tenant: tenant, id: Identifier(device)!)
        let fields = JSON(unchecked: Array(#"{"budget_class":"lab"}"#.utf8)).document.root
        let token = JSON(unchecked: Array(#"{"token":"ab"}"#.utf8)).document.root
        _ = await relay.submitDeviceCommand(
            .register(try DeviceRegistration(reading: fields)), for: key, by: .operate)
        for name in ["start:Runner", "activity:cat"] {
            _ = await relay.submitDeviceCommand(
                .putToken(TokenName(name)!, try TokenRegistration(reading: token)), for: key,
                by: .operate)
        }
    }

    @Test func `a posted event is answered when durable, and pushed`() throws {
        let log = InMemoryEventLog()
        try Self.with(log) { relay, apple in
            try await Self.equip(relay, "phone")
            let start = #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0}}"#
            let answer = await relay.submit(try Self.command(.start, "cat", start))
            #expect(answer.accepted?.seq == 1)
            #expect(
                try await log.event(seq: 1, tenant: Self.tenant)?.event.body == Array(start.utf8))
            let key = ActivityKey(tenant: Self.tenant, id: Identifier("cat")!)
            let view = await relay.waitForDelivery(
                key, version: 1, deadline: relay.loop.now + .seconds(5))
            #expect(view?.destinations.first?.acknowledgedVersion == 1)
            #expect(apple.pushes.count == 1)
        }
    }

    @Test(arguments: [
        ("InvalidProviderToken", "pushes wait: Apple answers 403 InvalidProviderToken"),
        ("ExpiredProviderToken", "this machine's clock is wrong"),
    ])
    func `an operator reads why pushes wait, and that they go again`(
        reason: String, told: String
    ) throws {
        let lines = Mutex<[String]>([])
        try Self.with(report: { note in
            lines.withLock { $0.append("\(note.text); \(note.remedy ?? "")") }
        }) { relay, apple in
            try await Self.equip(relay, "phone")
            apple.result = .rejected(
                status: 403, reason: reason, reaches: .providerToken, tokenGoneSince: nil)
            let start = #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0}}"#
            _ = await relay.submit(try Self.command(.start, "cat", start))
            let key = ActivityKey(tenant: Self.tenant, id: Identifier("cat")!)
            _ = await relay.waitForDelivery(
                key, version: 1, deadline: relay.loop.now + .milliseconds(200))
            // Another cause is another line, and the same one again is none.
            apple.result = .rejected(
                status: 503, reason: "Shutdown", reaches: .upstream, tokenGoneSince: nil)
            let deadline = relay.loop.now + .seconds(20)
            while lines.withLock({ $0.count }) < 2, relay.loop.now < deadline {
                try await relay.loop.sleep(for: .milliseconds(20))
            }
            try await relay.loop.sleep(for: .seconds(4))
            apple.result = .accepted
            while lines.withLock({ $0.count }) < 3, relay.loop.now < deadline {
                try await relay.loop.sleep(for: .milliseconds(20))
            }
        }
        let all = lines.withLock { $0 }
        #expect(all.count == 3, "\(all)")
        #expect(all.dropFirst().first?.contains("Apple answers 503 Shutdown") == true, "\(all)")
        #expect(all.first?.hasPrefix("app com.example.app (sandbox): ") == true, "\(all)")
        #expect(all.first?.contains(told) == true && all.first?.contains("doctor") == true)
        #expect(all.last == "app com.example.app (sandbox): pushes go again; ")
    }

    @Test func `many commands of one turn are answered in their order`() throws {
        try Self.with { relay, _ in
            var commands = [
                try Self.command(.start, "cat", #"{"type":"Runner","state":{"lap":0}}"#)
            ]
            for lap in 1...500 {
                commands.append(try Self.command(.update, "cat", #"{"state":{"lap":\#(lap)}}"#))
            }
            commands.append(try Self.command(.update, "dog", #"{"state":{}}"#))
            let answers = await relay.submit(commands)
            #expect(answers.count == 502)
            for (index, answer) in answers.dropLast().enumerated() {
                #expect(answer.accepted?.version == Int64(index + 1))
            }
            #expect(answers.last?.refusal?.code == .unknownActivity)
        }
    }

    @Test func `a second relay on the same log goes on where the first stopped`() throws {
        let log = InMemoryEventLog()
        try Self.with(log) { relay, _ in
            try await Self.equip(relay, "phone")
            _ = await relay.submit(
                try Self.command(
                    .start, "cat",
                    #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0}}"#))
            _ = await relay.submit(try Self.command(.update, "cat", #"{"state":{"lap":1}}"#))
        }
        try Self.with(log.crashed()) { relay, apple in
            let key = ActivityKey(tenant: Self.tenant, id: Identifier("cat")!)
            let view = await relay.activity(key)
            #expect(view?.version == 2)
            #expect(view.map { String(decoding: $0.state.bytes, as: UTF8.self) } == #"{"lap":1}"#)
            #expect(view?.destinations.count == 1)
            let answer = await relay.submit(try Self.command(.end, "cat", "{}"))
            #expect(answer.accepted?.version == 3)
            _ = await relay.waitForDelivery(key, version: 3, deadline: relay.loop.now + .seconds(5))
            #expect(apple.pushes.last?.event == .end)
        }
    }

    /// A log whose disk is full, or does not answer, while somebody says so.
    final class CrampedLog: EventLog {
        private let log = InMemoryEventLog()
        let isFull = Mutex(false)
        /// The words with which it refuses.
        let refuses = Mutex<String?>(nil)
        /// How long the next batch takes, on this loop.
        let hangs = Mutex<(duration: Duration, loop: any Loop)?>(nil)

        func append(_ batch: AppendBatch) async throws(EventLogError) -> AppendReceipt {
            if isFull.withLock({ $0 }) { throw .full(hint: "free some") }
            if let cause = refuses.withLock({ $0 }) {
                throw .unavailable(cause: cause, hint: "grant it")
            }
            if let (duration, loop) = hangs.withLock({ $0.take() }) {
                do { try await loop.sleep(for: duration) } catch { throw .closed }
            }
            return try await log.append(batch)
        }

        func recover(idempotencySince: Instant) async throws(EventLogError) -> RecoveredLog {
            try await log.recover(idempotencySince: idempotencySince)
        }

        func retired(
            named keys: [ActivityKey]
        ) async throws(EventLogError) -> [RecoveredHead] { try await log.retired(named: keys) }

        func retired(
            _ activity: ActivityNumber, tenant: TenantID
        ) async throws(EventLogError) -> RecoveredHead? {
            try await log.retired(activity, tenant: tenant)
        }

        func events(_ query: EventQuery) async throws(EventLogError) -> EventPage {
            try await log.events(query)
        }

        func event(
            seq: Int64, tenant: TenantID
        ) async throws(EventLogError) -> RecordedEvent? {
            try await log.event(seq: seq, tenant: tenant)
        }

        func event(
            tenantSeq: Int64, tenant: TenantID
        ) async throws(EventLogError) -> RecordedEvent? {
            try await log.event(tenantSeq: tenantSeq, tenant: tenant)
        }

        func history(
            after seq: Int64, limit: Int
        ) async throws(EventLogError) -> [RecordedEvent] {
            try await log.history(after: seq, limit: limit)
        }

        func facts(_ query: FactQuery) async throws(EventLogError) -> FactPage {
            try await log.facts(query)
        }

        func close() async { await log.close() }
    }

    @Test
    func `a full disk refuses new events, keeps those it took, and goes on when there is room`()
        throws
    {
        let log = CrampedLog()
        try Self.with(log) { relay, _ in
            log.isFull.withLock { $0 = true }
            async let first = relay.submit(
                try Self.command(.start, "cat", #"{"type":"R","state":{}}"#))
            while await relay.isReady { await Task.yield() }
            let refused = await relay.submit(
                try Self.command(.start, "dog", #"{"type":"R","state":{}}"#))
            let refusal = try #require(refused.refusal)
            #expect(refusal.code == .logFull)
            #expect(refusal.detail.contains("free some"))
            log.isFull.withLock { $0 = false }
            #expect(try await first.accepted?.seq == 1)
            #expect(await relay.isReady)
        }
    }

    @Test func `a log that refuses is said to all with its words, and tried again`() throws {
        let log = CrampedLog()
        try Self.with(log) { relay, _ in
            log.refuses.withLock { $0 = "permission denied" }
            for name in ["cat", "dog"] {
                let answer = await relay.submit(
                    try Self.command(.start, name, #"{"type":"R","state":{}}"#))
                let refusal = try #require(answer.refusal)
                #expect(refusal.code == .logUnavailable)
                #expect(refusal.detail.contains("permission denied"))
                #expect(await relay.unreadiness?.contains("grant it") == true)
            }
            log.refuses.withLock { $0 = nil }
            while await !relay.isReady { await Task.yield() }
            // What was on its way is stored all the same; what came later is not.
            #expect(try await log.history(after: 0, limit: 9).count == 1)
        }
    }

    @Test func `a request that waits for a silent log is answered after ten seconds`() {
        let loop = VirtualLoop(seed: 1)
        let log = CrampedLog()
        let notes = Mutex<[OperatorNote.Event]>([])
        let end = loop.run(until: .init(nanoseconds: 3_600_000_000_000), jobsMax: 100_000) {
            let relay = Relay(
                loop: loop, log: log, sender: ScriptedApple(loop),
                configuration: CoreConfiguration(apps: []), wallClock: MachineClock(), seed: 1
            ) { note in notes.withLock { $0.append(note.event) } }
            do {
                _ = try await relay.recover()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask(executorPreference: loop) { try await relay.run() }
                    while await !relay.isReady { try await loop.sleep(for: .milliseconds(1)) }
                    log.hangs.withLock { $0 = (.seconds(60), loop) }
                    let began = loop.now
                    // The second is refused at once.
                    for place in 0...1 {
                        let answer = await relay.submit(
                            try Self.command(.start, "cat-\(place)", #"{"type":"R","state":{}}"#))
                        #expect(answer.refusal?.code == .logSilent)
                        #expect((10...11).contains((loop.now - began) / .seconds(1)))
                        #expect(await !relay.isReady)
                    }
                    try await loop.sleep(for: .seconds(60))
                    #expect(await relay.isReady)
                    await relay.finish()
                    try await group.waitForAll()
                }
                // What was on its way is stored all the same.
                #expect(try await log.history(after: 0, limit: 9).count == 1)
            } catch { Issue.record(error) }
        }
        #expect(end == .finished)
        let lines = notes.withLock { $0 }.filter { [.logSilent, .logAnswers].contains($0) }
        #expect(lines == [.logSilent, .logAnswers])
    }

    @Test func `a failed log stops the relay and answers each waiting request`() throws {
        let log = InMemoryEventLog()
        do {
            try Self.with(log) { relay, _ in
                await log.close()
                let answer = await relay.submit(
                    try Self.command(.start, "cat", #"{"type":"R","state":{}}"#))
                #expect(answer.refusal?.code == .stopping)
                #expect(await !relay.isReady)
            }
            Issue.record("the relay went on")
        } catch {
            #expect(error as? EventLogError == .closed)
        }
    }
}

extension Relay {
    func capacity(_ count: Int) { capacityChanged(UpstreamNumber(0), to: count) }
}
