import Testing
import TomboloAPNs
import TomboloLoop

struct ReconnectBackOffTests {
    private let start = MonotonicInstant(nanoseconds: 5_000_000_000)

    /// The waits after `count` failures in a row, in seconds.
    private func waits(_ count: Int, chance: UInt64) -> [Double] {
        var backOff = ReconnectBackOff()
        return (0..<count).map { _ in
            backOff.failed(now: start, chance: chance)
            return Double((backOff.notBefore! - start).nanoseconds) / 1e9
        }
    }

    @Test func `no wait is longer than the operator allows`() {
        var backOff = ReconnectBackOff(atMost: .seconds(15))
        for failure in 0..<10 {
            backOff.failed(now: start, chance: .max)
            #expect(backOff.allows(now: start + .seconds(15)), "failure \(failure)")
        }
    }

    @Test func `the wait doubles from one second to sixty`() {
        #expect(waits(9, chance: 0) == [0.5, 1, 2, 4, 8, 16, 30, 30, 30])
        let longest = waits(9, chance: .max)
        for (wait, whole) in zip(longest, [1.0, 2, 4, 8, 16, 32, 60, 60, 60]) {
            #expect(wait <= whole && wait > whole - 0.001)
        }
    }

    @Test func `a thousand failures overflow nothing`() {
        #expect(waits(1_000, chance: 0).last == 30)
    }

    @Test func `a connection may be tried at the end of the wait and not before`() {
        var backOff = ReconnectBackOff()
        #expect(backOff.allows(now: start))
        backOff.failed(now: start, chance: 0)
        #expect(!backOff.allows(now: start))
        #expect(!backOff.allows(now: start + .nanoseconds(499_999_999)))
        #expect(backOff.allows(now: start + .milliseconds(500)))
    }

    @Test func `an answered push ends the row of failures`() {
        var backOff = ReconnectBackOff()
        for _ in 0..<5 { backOff.failed(now: start, chance: 0) }
        backOff.served()
        #expect(backOff.failures == 0)
        #expect(backOff.allows(now: start))
        backOff.failed(now: start, chance: 0)
        #expect(backOff.notBefore == start + .milliseconds(500))
    }
}
