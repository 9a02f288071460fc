import CoreRig
import Testing

/// A few random histories; `histories` lives 100,000 of them in a release build.
@Suite struct RandomHistoryTests {
    @Test func `random histories keep the rules, and their books add up`() {
        var (jumps, told) = (0, 0)
        for seed in 0..<60 {
            var history = RandomHistory(seed: UInt64(seed))
            history.run(steps: 40)
            #expect(history.check() == [])
            jumps += history.clockJumps
            told += history.decisionsTold
        }
        #expect(jumps > 20, "the wall clock is set often enough to tell")
        #expect(told > 300, "there is something to check")
    }
}
