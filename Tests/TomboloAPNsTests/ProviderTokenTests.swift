import Testing
import TomboloAPNs
import TomboloCore
import TomboloLoop

struct ProviderTokenTests {
    private func monotonic(_ minutes: Double) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(minutes * 60_000_000_000))
    }

    private func wall(_ minutes: Double) -> Instant {
        Instant(seconds: 1_700_000_000) + Span(nanoseconds: Int64(minutes * 60_000_000_000))
    }

    private func minted(at minute: Double = 0) -> ProviderToken {
        var token = ProviderToken()
        token.minted(now: monotonic(minute), wall: wall(minute))
        return token
    }

    @Test func `the first token is minted at its first use`() {
        var token = ProviderToken()
        #expect(token.isDue(now: monotonic(0), wall: wall(0)))
        token.minted(now: monotonic(0), wall: wall(0))
        #expect(token.generation == 1)
        #expect(!token.isDue(now: monotonic(0), wall: wall(0)))
    }

    @Test func `a token is renewed at 50 minutes and not a moment earlier`() {
        let token = minted()
        #expect(!token.isDue(now: monotonic(49.999), wall: wall(49.999)))
        #expect(token.isDue(now: monotonic(50), wall: wall(50)))
        #expect(token.isDue(now: monotonic(500), wall: wall(500)))
    }

    @Test func `after a sleep the wall clock tells the age, but not within 20 minutes`() {
        let token = minted()
        #expect(!token.isDue(now: monotonic(19.999), wall: wall(600)))
        #expect(token.isDue(now: monotonic(20), wall: wall(600)))
    }

    @Test func `a wall clock set back makes no old token young`() {
        let token = minted()
        #expect(token.isDue(now: monotonic(50), wall: wall(1)))
    }

    @Test func `a wall clock set back by more than five minutes allows one minting at once`() {
        var token = minted()
        #expect(!token.isDue(now: monotonic(1), wall: wall(-3.999)))
        #expect(token.isDue(now: monotonic(1), wall: wall(-4.001)))
        token.minted(now: monotonic(1), wall: wall(-120))
        #expect(!token.isDue(now: monotonic(2), wall: wall(-119)))
        #expect(token.isDue(now: monotonic(2), wall: .distantPast))
    }

    @Test(arguments: [120.0, -120.0])
    func `a clock that is set after a refusal allows one minting at once`(step: Double) {
        var token = minted()
        #expect(!token.isDue(now: monotonic(1), wall: wall(121)), "a good token is kept")
        #expect(token.expired(1, now: monotonic(1), wall: wall(1)) == .newToken)
        token.minted(now: monotonic(1), wall: wall(1))
        #expect(token.expired(2, now: monotonic(2), wall: wall(2)) == .none)
        #expect(!token.isDue(now: monotonic(3), wall: wall(3)))
        #expect(token.isDue(now: monotonic(4), wall: wall(4 + step)))
        // The answer to a push of before the step comes after it.
        #expect(token.expired(2, now: monotonic(4), wall: wall(4 + step)) == .newToken)
        token.minted(now: monotonic(4), wall: wall(4 + step))
        #expect(token.expired(3, now: monotonic(5), wall: wall(5 + step)) == .none)
        #expect(!token.isDue(now: monotonic(5), wall: wall(5 + step)))
    }

    @Test func `an expired token is replaced once, however many pushes say so`() {
        var token = minted()
        #expect(token.expired(1, now: monotonic(10), wall: wall(10)) == .newToken)
        #expect(token.expired(1, now: monotonic(10), wall: wall(10)) == .newToken)
        #expect(token.isDue(now: monotonic(10), wall: wall(10)))
        token.minted(now: monotonic(10), wall: wall(10))
        #expect(token.generation == 2)
        #expect(token.expired(1, now: monotonic(11), wall: wall(11)) == .newToken)
        #expect(!token.isDue(now: monotonic(11), wall: wall(11)))
    }

    @Test func `a new token that is refused as well is not replaced for 20 minutes`() {
        var token = minted()
        _ = token.expired(1, now: monotonic(10), wall: wall(10))
        token.minted(now: monotonic(10), wall: wall(10))
        #expect(token.expired(2, now: monotonic(11), wall: wall(11)) == .none)
        #expect(token.expired(2, now: monotonic(29.999), wall: wall(29.999)) == .none)
        #expect(!token.isDue(now: monotonic(29.999), wall: wall(29.999)))
        #expect(token.expired(2, now: monotonic(30), wall: wall(30)) == .newToken)
        #expect(token.isDue(now: monotonic(30), wall: wall(30)))
    }

    @Test func `in a day a busy relay mints every 50 minutes`() {
        var token = ProviderToken()
        var mintings: [Int] = []
        for minute in 0..<1_440
        where token.isDue(now: monotonic(Double(minute)), wall: wall(Double(minute))) {
            token.minted(now: monotonic(Double(minute)), wall: wall(Double(minute)))
            mintings.append(minute)
        }
        #expect(mintings == Array(stride(from: 0, to: 1_440, by: 50)))
    }
}
