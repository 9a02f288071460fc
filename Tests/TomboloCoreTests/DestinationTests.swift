import Testing

@testable import TomboloCore

/// A destination by itself: what attempts and Apple's answers change in it.
@Suite struct DestinationTests {
    private static let now = Instant(seconds: 1_000)

    private func destination(_ change: (inout Destination) -> Void = { _ in }) -> Destination {
        var made = Destination(
            number: 1, activity: 0, device: 0, incarnation: 1, upstream: UpstreamNumber(0),
            ledger: Ledger(since: 1), phaseSince: .distantPast)
        change(&made)
        return made
    }

    private func flying(
        _ event: Push.Event = .update, version: Int64 = 5, wish: Wish = .latest(.normal),
        alert: Int64? = nil, tokenTaken: Bool = false, push: UInt64 = 7
    ) -> Destination.InFlight {
        Destination.InFlight(
            push: PushID(push), event: event, version: version, contentHash: 99,
            tokenTaken: tokenTaken, wish: wish, token: PushToken("abcd"), alert: alert,
            staleAt: Self.now + .hours(1), until: Self.now + .seconds(10),
            timestamp: 0, takenBefore: TakenTimestamps(),
            apnsID: APNsID(high: 0x8000, low: 1 << 63), route: .updateToken, priority: 10,
            bytes: 100)
    }

    @Test func `a push that Apple took is acknowledged, and never an older version again`() {
        var one = destination { $0.refusalsInRow = 3 }
        one.took(flying(version: 5), at: Self.now)
        #expect(one.acknowledged == 5 && one.contentHash == 99 && one.refusalsInRow == 0)
        #expect(one.staleAt == Self.now + .hours(1))
        one.took(flying(version: 4), at: Self.now)
        #expect(one.acknowledged == 5)
    }

    @Test func `a refused version is done, and owes nothing more`() {
        var one = destination { $0[.owesTrailing] = true }
        one.refused(flying(version: 5, alert: 5))
        #expect(one.acknowledged == 5 && one.alertsThrough == 5 && !one[.owesTrailing])
        #expect(one.echo.count(of: 5) == Echo.countMax)
    }

    @Test func `an attempt that came to nothing gives its token and its alert back`() {
        var one = destination { $0.alertsThrough = 5 }
        one.giveBack(flying(alert: 5, tokenTaken: true))
        #expect(one.pacing.holdsToken && one.alertsThrough == 4)
        var other = destination { $0.alertsThrough = 3 }
        other.giveBack(flying())
        #expect(!other.pacing.holdsToken && other.alertsThrough == 3)
    }

    @Test(arguments: [(0, 1), (1, 2), (5, 32), (8, 256), (9, 300), (200, 300)])
    func `refusals in a row back off for twice as long, up to five minutes`(
        before: Int, seconds: Int64
    ) {
        var one = destination { $0.refusalsInRow = before }
        one.backOff(because: .tokenBackOff, now: Self.now)
        #expect(one.pacing.backOffUntil == Self.now + .seconds(seconds))
        #expect(one.refusalsInRow == before + 1)
    }

    @Test func `only the push in flight lands`() {
        var one = destination { $0.inFlight = flying(push: 7) }
        #expect(one.land(PushID(8)) == nil)
        #expect(one.inFlight != nil)
        #expect(one.land(PushID(7))?.version == 5)
        #expect(one.inFlight == nil)
    }

    @Test func `a lost trailing push is owed again`() {
        var one = destination()
        one.wantAgain(flying(wish: .latest(.normal)), now: Self.now)
        #expect(!one[.owesTrailing])
        one.wantAgain(flying(wish: .trailing), now: Self.now)
        #expect(one[.owesTrailing])
    }

    @Test func `a start and an alert are on record before they are tried`() {
        var one = destination()
        #expect(one.isOnRecord(.update, alert: nil, isPaid: false), "an update needs no record")
        #expect(!one.isOnRecord(.start, alert: nil, isPaid: true))
        #expect(!one.isOnRecord(.update, alert: 5, isPaid: true))
        one.reserve(.start, alert: 5)
        #expect(!one.isOnRecord(.start, alert: 5, isPaid: true), "it is not durable yet")
        one.reservation = .granted
        #expect(one.isOnRecord(.start, alert: 5, isPaid: true))
        #expect(!one.isOnRecord(.start, alert: 5, isPaid: false), "its token is too old")
        #expect(!one.isOnRecord(.start, alert: 6, isPaid: true), "that is another alert")
        #expect(one.isOnRecord(.update, alert: 5, isPaid: false))
        one.clearReservation()
        #expect(!one.isOnRecord(.update, alert: 5, isPaid: true))
    }

    @Test func `a phase is entered once`() {
        var one = destination { $0[.startWasRefused] = true }
        let begun = one.enter(.started, now: Self.now)
        #expect(begun && one.phaseSince == Self.now && !one[.startWasRefused])
        let again = one.enter(.started, now: Self.now + .seconds(1))
        #expect(!again && one.phaseSince == Self.now)
    }

    @Test func `a sign of life counts once after the last send`() {
        var one = destination { $0.pacing.lastSend = Self.now }
        one.noteSignOfLife(now: Self.now + .seconds(1))
        #expect(one.echo.signAt == nil, "there is no token")
        one.token = PushToken("abcd")
        one.noteSignOfLife(now: Self.now)
        #expect(one.echo.signAt == nil, "it is as old as the send")
        one.noteSignOfLife(now: Self.now + .seconds(1))
        one.noteSignOfLife(now: Self.now + .seconds(2))
        #expect(one.echo.signAt == Self.now + .seconds(1))
    }

    @Test func `both clocks of a moment differ by the lead`() {
        let time = DeliveryTime(now: Self.now, lead: .seconds(30))
        #expect(time.wall == Self.now + .seconds(30))
        #expect(time.steady(time.wall) == time.now)
    }
}
