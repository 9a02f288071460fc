import Synchronization
import TestSupport
import Testing
import TomboloLoop

@Suite struct WaitingTests {
    @Test func `a signal that comes early is kept as one permit`() async throws {
        let wakes = try await onLoop { loop in
            let parking = Parking(loop)
            parking.unpark()
            parking.unpark()
            let first = await parking.park()
            let second = await parking.park(until: loop.now + .milliseconds(1))
            return [first, second]
        }
        #expect(wakes == [.signal, .deadline])
    }

    @Test func `a permit goes before a deadline that has passed`() async throws {
        let wake = try await onLoop { loop in
            let parking = Parking(loop)
            parking.unpark()
            return await parking.park(until: loop.now - .seconds(1))
        }
        #expect(wake == .signal)
    }

    @Test func `a wait that its signal ended does not cut the next one short`() async throws {
        let wakes = try await onLoop { loop in
            let parking = Parking(loop)
            let deadline = loop.now + .milliseconds(2)
            await withTaskGroup(of: Void.self) { group in
                group.addTask { parking.unpark() }
                _ = await parking.park(until: deadline)
            }
            let start = loop.now
            let wake = await parking.park(until: start + .milliseconds(6))
            return (wake, loop.now - start >= .milliseconds(6))
        }
        #expect(wakes == (.deadline, true))
    }

    @Test func `other threads may signal`() async throws {
        let count = try await onLoop { loop in
            let parking = Parking(loop)
            let sent = SentCount()
            return await withTaskGroup(of: Void.self) { group in
                group.addTask(executorPreference: globalConcurrentExecutor) {
                    for _ in 0..<500 {
                        sent.count.add(1, ordering: .relaxed)
                        parking.unpark()
                    }
                }
                while sent.count.load(ordering: .relaxed) < 500 {
                    _ = await parking.park(until: loop.now + .seconds(5))
                }
                await group.waitForAll()
                return sent.count.load(ordering: .relaxed)
            }
        }
        #expect(count == 500)
    }

    @Test func `cancellation ends a wait, before it began and while it lasts, from any thread`()
        async throws
    {
        let wakes = try await onLoop { loop in
            await withTaskGroup(of: Wake.self) { group in
                let parking = Parking(loop)
                group.addTask { await parking.park() }
                await Task.yield()
                group.cancelAll()
                let late = Parking(loop)
                group.addTask { await late.park() }
                return await group.reduce(into: []) { $0.append($1) }
            }
        }
        #expect(wakes == [.cancelled, .cancelled])
    }

    @Test func `a deadline cancels the operation and is told as such`() async throws {
        try await onLoop { loop in
            let parking = Parking(loop)
            await #expect(throws: DeadlineExceeded.self) {
                try await loop.withDeadline(loop.now + .milliseconds(1)) {
                    await parking.park() == .cancelled
                }
            }
            let value = try await loop.withDeadline(loop.now + .seconds(5)) { 7 }
            #expect(value == 7)
            #expect(!parking.isOccupied)
        }
    }
}

private final class SentCount: Sendable {
    let count = Atomic<Int>(0)
}
