import Glibc
import Synchronization
import TestSupport
import Testing
import TomboloLoop

/// Time that passes only when nothing is left to do, and the nets for what escapes it.
@Suite struct VirtualLoopTests {
    private static let hour = MonotonicInstant(nanoseconds: 3_600_000_000_000)

    @Test func `an hour of waiting takes no time, and ends at its moment`() {
        let loop = VirtualLoop(seed: 1)
        let end = loop.run(until: Self.hour, jobsMax: 1_000) {
            do { try await loop.sleep(for: .seconds(3_599)) } catch {}
            #expect(loop.now == MonotonicInstant(nanoseconds: 3_599_000_000_000))
        }
        #expect(end == .finished)
        #expect(loop.escapes == 0)
    }

    @Test func `a wait that nobody ends is found: idle but not done`() {
        let loop = VirtualLoop(seed: 1)
        let place = Parking(loop)
        #expect(loop.run(until: Self.hour, jobsMax: 1_000) { _ = await place.park() } == .idle)
        place.unpark()
    }

    @Test func `a run is bounded by virtual time and by jobs`() {
        let sleeper = VirtualLoop(seed: 1)
        let tooLate = sleeper.run(until: MonotonicInstant(nanoseconds: 5), jobsMax: 1_000) {
            do { try await sleeper.sleep(for: .seconds(1)) } catch {}
        }
        #expect(tooLate == .outOfTime)
        let spinner = VirtualLoop(seed: 1)
        let tooMuch = spinner.run(until: Self.hour, jobsMax: 100) {
            while !Task.isCancelled { await Task.yield() }
        }
        #expect(tooMuch == .outOfJobs)
    }

    @Test func `a task on the runtime's pool is an escape`() {
        let loop = VirtualLoop(seed: 1)
        _ = loop.run(until: Self.hour, jobsMax: 1_000_000_000) {
            // Whoever begins such a task by mistake leaves the loop: it has no parent to inherit it
            // from.
            Task {}
        }
        #expect(loop.escapes > 0)
    }

    @Test func `tasks that are ready together run in the seed's order`() {
        func order(_ seed: UInt64) -> [Int] {
            let loop = VirtualLoop(seed: seed)
            let seen = Seen()
            _ = loop.run(until: Self.hour, jobsMax: 10_000) {
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<20 {
                        group.addTask(executorPreference: loop) { seen.note(number) }
                    }
                }
            }
            return seen.all
        }
        #expect(order(7) == order(7))
        #expect(order(7) != order(8))
        #expect(order(7).sorted() == Array(0..<20))
    }
}

private final class Seen: Sendable {
    private let numbers = Mutex<[Int]>([])

    var all: [Int] { numbers.withLock { $0 } }

    func note(_ number: Int) { numbers.withLock { $0.append(number) } }
}
