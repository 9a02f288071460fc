import Synchronization
import TestSupport
import Testing
import TomboloCore
import TomboloEventLog
import TomboloLoop
import TomboloRelay

/// What the relay says of the machine's clock.
@Suite struct ClockLineTests {
    /// The machine's clock, set ahead by hand.
    private struct SetClock: WallClock {
        let ahead: Span
        var boot = "one boot"

        func now() -> Instant { RelayTests.MachineClock().now() + ahead }
    }

    private static func start(
        _ log: InMemoryEventLog, ahead: Span, _ loop: EpollLoop
    ) async throws -> [OperatorNote] {
        let notes = Box()
        let relay = Relay(
            loop: loop, log: log, sender: RelayTests.ScriptedApple(loop),
            configuration: CoreConfiguration(apps: []), wallClock: SetClock(ahead: ahead), seed: 1
        ) { notes.add($0) }
        _ = try await relay.recover()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask(executorPreference: loop) { try await relay.run() }
            while await !relay.isReady { await Task.yield() }
            await relay.finish()
            try await group.waitForAll()
        }
        return notes.all
    }

    @Test
    func `a clock that was set ahead gets a line, and one that time servers correct gets none`()
        throws
    {
        try EpollLoop.run { loop in
            let log = InMemoryEventLog()
            #expect(try await Self.start(log, ahead: .zero, loop).isEmpty)
            #expect(try await Self.start(log, ahead: .seconds(20), loop).isEmpty)
            let jump = try await Self.start(log, ahead: .hours(2), loop)
            #expect(jump.map(\.event) == [.clockAhead])
            #expect(jump.first?.text.contains("set ahead by 2h") == true, "\(jump)")
            // To the log it is the same whether this clock was set back or the other one leaped:
            // by that one, all that is older than its time goes.
            let lag = try await Self.start(log, ahead: .zero, loop)
            #expect(lag.map(\.event) == [.clockBehind])
            #expect(lag.first?.text.contains("less far than its boot clock") == true, "\(lag)")
        }
    }
}

/// A clock that is behind when the machine starts.
extension ClockLineTests {
    @Test(arguments: [false, true]) func `a clock that is behind at the start gets a line`(
        restartsTwice: Bool
    ) throws {
        let log = InMemoryEventLog()
        try RelayTests.with(log) { relay, _ in
            try await RelayTests.equip(relay, "phone")
            let start = #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0}}"#
            _ = await relay.submit(try RelayTests.command(.start, "cat", start))
            let key = ActivityKey(tenant: RelayTests.tenant, id: Identifier("cat")!)
            _ = await relay.waitForDelivery(
                key, version: 1, deadline: relay.loop.now + .seconds(5))
        }
        try EpollLoop.run { loop in
            for boot in restartsTwice ? ["second", "third"] : ["second"] {
                let notes = Box()
                let app = CoreConfiguration.App(
                    tenant: RelayTests.tenant, id: "com.example.app", environment: .sandbox,
                    allowsLab: true)
                let relay = Relay(
                    loop: loop, log: log, sender: RelayTests.ScriptedApple(loop),
                    configuration: CoreConfiguration(apps: [app]),
                    wallClock: SetClock(ahead: .hours(-2), boot: boot), seed: 1
                ) { notes.add($0) }
                _ = try await relay.recover()
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask(executorPreference: loop) { try await relay.run() }
                    while await !relay.isReady { await Task.yield() }
                    #expect(await relay.clockBehind > .minutes(119))
                    #expect(await relay.clockTrouble == "clock 2h behind")
                    await relay.finish()
                    try await group.waitForAll()
                }
                #expect(notes.all.map(\.event) == [.clockBehind])
            }
        }
    }
}

/// Notes that leave a closure.
private final class Box: Sendable {
    private let notes = Mutex<[OperatorNote]>([])

    var all: [OperatorNote] { notes.withLock { $0 } }

    func add(_ note: OperatorNote) { notes.withLock { $0.append(note) } }
}
