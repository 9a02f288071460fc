import Testing

@testable import TomboloCore

/// What waits to be looked at, when many requests ask for it.
@Suite struct SweepsTests {
    private static let now = Instant(seconds: 1_000)

    /// The sweeps in their order: a letter each.
    private func order(_ sweeps: Sweeps) -> String {
        var (rest, now, text) = (sweeps, Self.now + .seconds(1), "")
        while let (work, _) = rest.current(now: now) {
            switch work {
            case .grants: text += "g"
            case .clock: text += "c"
            case .pause(nil): text += "*"
            case .pause: text += "p"
            }
            rest.advance(to: nil, now: now)
            now = now + .seconds(1)
        }
        return text
    }

    private func pauses(_ count: Int) -> Sweeps {
        var sweeps = Sweeps()
        for number in 0..<count {
            let pause = Pause(
                number: Int64(number), serial: 1, tenant: .main, scope: .all, alertsOnly: false,
                reason: nil, since: Self.now)
            sweeps.add(.pause(pause), now: Self.now)
        }
        return sweeps
    }

    @Test func `too many pauses become one look at everything`() {
        let most = Sweeps.pausesMax
        #expect(order(pauses(most)) == String(repeating: "p", count: most))
        #expect(order(pauses(most + 1)) == "*")
    }

    @Test(arguments: [0, 1, Sweeps.pausesMax, Sweeps.pausesMax + 1])
    func `a change of class is never lost behind pauses`(count: Int) {
        var sweeps = pauses(count)
        for _ in 0..<2 { sweeps.add(.grants, now: Self.now) }
        for _ in 0..<3 { sweeps.add(.clock, now: Self.now) }
        #expect(order(sweeps).filter { "gc".contains($0) } == "gc")
        for _ in 0..<Sweeps.pausesMax { sweeps.add(.pause(nil), now: Self.now) }
        #expect(order(sweeps).filter { "gc".contains($0) } == "gc")
    }

    @Test func `all inputs of one turn do one piece together`() {
        var sweeps = pauses(1)
        sweeps.advance(to: 7, now: Self.now)
        #expect(sweeps.current(now: Self.now) == nil)
        #expect(sweeps.current(now: Self.now + Span(nanoseconds: 1))?.next == 7)
    }
}
