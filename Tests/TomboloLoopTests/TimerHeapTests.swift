import TestSupport
import Testing
import TomboloLoop

@Suite struct TimerHeapTests {
    private final class Mark: TimerTarget {
        let number: Int
        init(_ number: Int) { self.number = number }
        func timerFired() {}
    }

    @Test func `thousands of timers leave in order, without the cancelled ones`() {
        var heap = TimerHeap()
        var random = SplitMix64(seed: 1)
        var expected: [(at: Int64, number: Int)] = []
        for number in 0..<3000 {
            let at = Int64.random(in: 0..<500, using: &random)
            let id = heap.add(
                at: MonotonicInstant(nanoseconds: at), tie: UInt64(number), Mark(number))
            if number % 3 == 0 { heap.cancel(id) } else { expected.append((at, number)) }
        }
        expected.sort { ($0.at, $0.number) < ($1.at, $1.number) }
        #expect(heap.liveCount == expected.count)
        var order: [Int] = []
        while let target = heap.pop(until: .distantFuture) as? Mark { order.append(target.number) }
        #expect(order == expected.map(\.number))
        #expect(heap.first() == nil)
    }

    @Test func `nothing leaves before its moment`() {
        var heap = TimerHeap()
        _ = heap.add(at: MonotonicInstant(nanoseconds: 10), tie: 0, Mark(0))
        #expect(heap.pop(until: MonotonicInstant(nanoseconds: 9)) == nil)
        #expect(heap.pop(until: MonotonicInstant(nanoseconds: 10)) != nil)
    }

    @Test func `an instant stays at the ends of its range`() {
        let late = MonotonicInstant(nanoseconds: .max - 1)
        #expect(late + .seconds(1) == .distantFuture)
        #expect((late - .seconds(-1)) == .distantFuture)
        #expect(
            MonotonicInstant(nanoseconds: 5) - MonotonicInstant(nanoseconds: 3) == .nanoseconds(2))
    }
}
