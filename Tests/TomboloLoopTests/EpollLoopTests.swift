import Glibc
import Synchronization
import TestSupport
import Testing
import TomboloLoop

@Suite struct EpollLoopTests {
    @Test func `the root task runs on the loop and answers`() throws {
        let answer = try EpollLoop.run { loop in
            #expect(loop.isOnLoop)
            try await loop.sleep(for: .microseconds(200))
            #expect(loop.isOnLoop)
            return 42
        }
        #expect(answer == 42)
    }

    @Test func `an error of the root task is thrown to the caller`() {
        #expect(throws: DeadlineExceeded.self) {
            try EpollLoop.run { _ in throw DeadlineExceeded() }
        }
    }

    @Test func `children of the root task run on the loop as well`() throws {
        let places = try EpollLoop.run { loop in
            await withTaskGroup(of: Bool.self) { group in
                for _ in 0..<20 { group.addTask { loop.isOnLoop } }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(places == Array(repeating: true, count: 20))
    }

    @Test func `timers fire in the order of their moments and then of their scheduling`()
        async throws
    {
        let fired = try await onLoop { loop in
            let log = FiringLog(loop)
            let start = loop.now
            for (mark, offset) in [(0, 3000), (1, 1000), (2, 2000), (3, 1000), (4, 0)] {
                log.schedule(mark, at: start + .microseconds(offset))
            }
            return await log.wait(for: 5)
        }
        #expect(fired.map(\.mark) == [4, 1, 3, 2, 0])
    }

    @Test func `a timer never fires before its moment`() async throws {
        let early = try await onLoop { loop in
            let log = FiringLog(loop)
            let start = loop.now
            for step in 1...40 { log.schedule(step, at: start + .microseconds(step * 130)) }
            return await log.wait(for: 40).filter { $0.at < start + .microseconds($0.mark * 130) }
        }
        #expect(early.isEmpty)
    }

    @Test func `a cancelled timer does not fire, and an id is not good for its successor`()
        async throws
    {
        let fired = try await onLoop { loop in
            let log = FiringLog(loop)
            let cancelled = log.schedule(1, at: loop.now + .microseconds(100))
            loop.cancel(cancelled)
            log.schedule(2, at: loop.now + .microseconds(200))
            loop.cancel(cancelled)
            loop.cancel(TimerID())
            return await log.wait(for: 1)
        }
        #expect(fired.map(\.mark) == [2])
    }

    @Test func `what is asked for at the end of a turn comes once, after the turn's jobs`()
        async throws
    {
        var order: [Int] = []
        // A job that takes long, as on a busy machine, ends the turn before the others.
        for _ in 0..<5 where order != [1, 2, 3, 0] {
            order = try await onLoop { loop in
                let end = TurnLog(loop)
                loop.atEndOfTurn(end)
                await withTaskGroup(of: Void.self) { group in
                    for mark in 1...3 { group.addTask { end.order.append(mark) } }
                }
                await end.parking.park()
                return end.order
            }
            #expect(order.sorted() == [0, 1, 2, 3])
        }
        #expect(order == [1, 2, 3, 0])
    }

    @Test func `a job that takes long leaves timers their look before the next one`() async throws {
        let marks = try await onLoop { loop in
            let log = FiringLog(loop)
            log.schedule(0, at: loop.now)
            await withTaskGroup(of: Void.self) { group in
                for mark in 1...4 {
                    group.addTask {
                        // Longer than a turn: what comes of it is kept, so that it is done.
                        var (hash, left) = (UInt64(mark), 10_000_000)
                        while left > 0 {
                            (hash, left) = (hash &* 6_364_136_223_846_793_005, left - 1)
                        }
                        log.fired.append(.init(mark: hash == 0 ? -1 : mark, at: loop.now))
                    }
                }
            }
            return log.fired.map(\.mark)
        }
        #expect(marks.filter { $0 > 0 } == [1, 2, 3, 4], "each in its order")
        #expect(marks.last == 4 && marks.contains(0), "\(marks)")
    }

    @Test func `jobs from many threads all arrive, each once`() async throws {
        let threads = 8
        let perThread = 2_000
        let sum = try await onLoop { loop in
            let counter = Counter(on: loop)
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<threads {
                    group.addTask(executorPreference: globalConcurrentExecutor) {
                        for _ in 0..<perThread { await counter.increment() }
                    }
                }
            }
            return await counter.value
        }
        #expect(sum == threads * perThread)
    }

    @Test func `a busy actor does not starve a descriptor`() async throws {
        let wasTold = try await onLoop { loop in
            var ends: [Int32] = [-1, -1]
            #expect(pipe(&ends) == 0)
            let pipe = PipeReader(ends[0], loop)
            try loop.register(ends[0], .readable, pipe)
            var byte: UInt8 = 7
            #expect(write(ends[1], &byte, 1) == 1)
            var turns = 0
            while pipe.received.isEmpty, turns < 100_000 {
                await Task.yield()
                turns += 1
            }
            loop.deregister(ends[0])
            close(ends[0])
            close(ends[1])
            return pipe.received == [7]
        }
        #expect(wasTold)
    }

    @Test func `a descriptor's successor of the same number is not told of its predecessor`()
        async throws
    {
        let (first, second) = try await onLoop { loop in
            var ends: [Int32] = [-1, -1]
            #expect(pipe(&ends) == 0)
            let first = PipeReader(ends[0], loop)
            try loop.register(ends[0], .readable, first)
            var byte: UInt8 = 1
            #expect(write(ends[1], &byte, 1) == 1)
            loop.deregister(ends[0])
            let second = PipeReader(ends[0], loop)
            try loop.register(ends[0], .readable, second)
            await second.parking.park()
            loop.deregister(ends[0])
            close(ends[0])
            close(ends[1])
            return (first.received, second.received)
        }
        #expect(first.isEmpty)
        #expect(second == [1])
    }

    @Test func `a signal reaches whoever waits for it`() async throws {
        let signal = try await onLoop { loop in
            let waiter = try SignalWaiter([SIGUSR1, SIGUSR2], on: loop)
            defer { waiter.close() }
            kill(getpid(), SIGUSR2)
            return try await waiter.next()
        }
        #expect(signal == SIGUSR2)
    }
}

/// Notes who was fired, and when.
private final class FiringLog: @unchecked Sendable {  // used on its loop only
    struct Firing: Sendable {
        let mark: Int
        let at: MonotonicInstant
    }

    private final class Target: TimerTarget {
        let log: FiringLog
        let mark: Int

        init(_ log: FiringLog, _ mark: Int) {
            self.log = log
            self.mark = mark
        }

        func timerFired() {
            log.fired.append(Firing(mark: mark, at: log.loop.now))
            log.parking.unpark()
        }
    }

    let loop: EpollLoop
    let parking: Parking
    var fired: [Firing] = []

    init(_ loop: EpollLoop) {
        self.loop = loop
        parking = Parking(loop)
    }

    @discardableResult
    func schedule(_ mark: Int, at moment: MonotonicInstant) -> TimerID {
        loop.schedule(at: moment, Target(self, mark))
    }

    func wait(for count: Int) async -> [Firing] {
        while fired.count < count { _ = await parking.park() }
        return fired
    }
}

private final class TurnLog: TurnTarget, @unchecked Sendable {  // used on its loop only
    var order: [Int] = []
    let parking: Parking

    init(_ loop: EpollLoop) { parking = Parking(loop) }

    func turnEnded() {
        order.append(0)
        parking.unpark()
    }
}

private actor Counter {
    private let loop: EpollLoop
    nonisolated let unownedExecutor: UnownedSerialExecutor
    private(set) var value = 0

    init(on loop: EpollLoop) {
        self.loop = loop
        unownedExecutor = loop.asUnownedSerialExecutor()
    }

    func increment() { value += 1 }
}

private final class PipeReader: ReadinessTarget, @unchecked Sendable {  // used on its loop only
    private let descriptor: Int32
    let parking: Parking
    var received: [UInt8] = []

    init(_ descriptor: Int32, _ loop: EpollLoop) {
        self.descriptor = descriptor
        parking = Parking(loop)
    }

    func becameReady(_ readiness: Readiness) {
        var byte: UInt8 = 0
        if read(descriptor, &byte, 1) == 1 { received.append(byte) }
        parking.unpark()
    }
}
