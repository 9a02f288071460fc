import Synchronization
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
        let boot = "one boot"

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

    @Test func `a clock that was set ahead has a line, and one that time servers correct has none`()
        throws
    {
        try EpollLoop.run { loop in
            let log = InMemoryEventLog()
            #expect(try await Self.start(log, ahead: .zero, loop).isEmpty)
            #expect(try await Self.start(log, ahead: .seconds(20), loop).isEmpty)
            let jump = try await Self.start(log, ahead: .hours(2), loop)
            #expect(jump.map(\.event) == [.clockAhead])
            #expect(jump.first?.text.contains("set ahead by 7180s") == true, "\(jump)")
        }
    }
}

/// Notes that leave a closure.
private final class Box: Sendable {
    private let notes = Mutex<[OperatorNote]>([])

    var all: [OperatorNote] { notes.withLock { $0 } }

    func add(_ note: OperatorNote) { notes.withLock { $0.append(note) } }
}
