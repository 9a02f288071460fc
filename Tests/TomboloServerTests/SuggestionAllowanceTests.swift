import Testing
import TomboloLoop

@testable import TomboloServer

struct SuggestionAllowanceTests {
    @Test func `a hundred unknown paths a second are answered with a suggestion, and no more`() {
        var allowance = SuggestionAllowance()
        let start = MonotonicInstant(nanoseconds: 5)
        func taken(_ count: Int, at now: MonotonicInstant) -> Int {
            (0..<count).count { _ in allowance.take(now: now) }
        }
        #expect(taken(101, at: start) == 100)
        #expect(taken(1, at: start + .milliseconds(999)) == 0)
        #expect(taken(101, at: start + .seconds(1)) == 100)
    }
}
