import Testing
import TomboloCore

@testable import TomboloRelay

/// Those who poll the history share a write.
@Suite struct SettlingTests {
    private static let now = Instant(seconds: 1_000)

    @Test func `no request waits longer than a tenth of a second, however many come at once`() {
        var last = Self.now - .hours(1)
        for _ in 0..<1_000 { last = Relay.settling(now: Self.now, last: last) }
        #expect(last <= Self.now + .milliseconds(100))
    }

    @Test func `a write comes at once after a pause, and ten times a second at most`() {
        #expect(Relay.settling(now: Self.now, last: .distantPast) == Self.now)
        let soon = Self.now + .milliseconds(1)
        #expect(Relay.settling(now: soon, last: Self.now) == Self.now + .milliseconds(100))
    }
}
