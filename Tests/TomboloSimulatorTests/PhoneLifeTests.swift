import Testing

@testable import TomboloSimulator

@Suite struct PhoneLifeTests {
    private func started() -> PhoneBench {
        var bench = PhoneBench()
        bench.start()
        return bench
    }

    @Test func `an end is applied however old it is, and nothing after it`() {
        var bench = started()
        bench.change("end", image: "z", timestamp: "1000")
        #expect(bench.shown == #"{"image":"z"}"#)
        #expect(bench.phone.cards[0].phase == .ended(until: bench.now + .seconds(4 * 3_600)))
        bench.change(image: "b")
        bench.change("end")
        #expect(bench.reasons == [.activityEnded, .activityEnded])
        #expect(bench.shown == #"{"image":"z"}"#)
    }

    @Test func `an end without a state keeps the frame shown`() {
        var bench = started()
        bench.change("end", image: nil)
        #expect(bench.shown == #"{"image":"a"}"#)
        #expect(bench.changes.last?.change == .ended)
    }

    @Test func `an ended card is dismissed after 4 hours, or at its date, or now`() {
        var bench = started()
        bench.change("end", extra: #","dismissal-date":\#(bench.now.seconds + 900)"#)
        bench.pass(.seconds(899))
        #expect(bench.phone.cards.count == 1)
        bench.pass(.seconds(1))
        #expect(bench.phone.cards.isEmpty)
        #expect(bench.phone.deadline == bench.now + .seconds(6 * 3_600), "its token's end")

        var late = started()
        late.change("end", extra: #","dismissal-date":\#(late.now.seconds + 90_000)"#)
        late.pass(.seconds(5))
        #expect(late.phone.deadline == PhoneBench.beginning + .seconds(4 * 3_600))

        var now = started()
        now.change("end", extra: #","dismissal-date":1"#)
        #expect(now.phone.cards.isEmpty)
        #expect(now.changes.map(\.change) == [.shown, .ended, .dismissed])
    }

    @Test func `after 8 hours the system ends it, after 12 it is gone`() {
        var bench = started()
        bench.pass(.seconds(8 * 3_600 - 1))
        #expect(bench.phone.cards[0].phase == .active)
        bench.pass(.seconds(1))
        #expect(bench.changes.last?.change == .ended)
        #expect(bench.retiredTokens == bench.updateTokens)
        #expect(bench.ends == [TokenEnd(reason: .expiredToken, at: bench.now)])
        bench.pass(.seconds(4 * 3_600))
        #expect(bench.phone.cards.isEmpty)
        #expect(bench.phone.deadline == nil)
    }

    @Test func `a swipe takes the card, and hours later its token`() {
        var bench = started()
        bench.swipeAway()
        #expect(bench.phone.cards.isEmpty)
        #expect(bench.changes.last?.change == .dismissed)
        bench.pass(.seconds(6 * 3_600 - 1))
        bench.change()
        #expect(bench.retiredTokens == [])
        #expect(bench.reasons == [.activityEnded])
        bench.pass(.seconds(1))
        #expect(bench.retiredTokens == bench.updateTokens)
        #expect(bench.ends == [TokenEnd(reason: .unregistered, at: bench.now)])
        bench.swipeAway()
        #expect(bench.changes.count == 2)
    }

    @Test func `while offline one push is kept for the app, the newest`() {
        var bench = started()
        bench.setOnline(false)
        bench.change(image: "b")
        bench.change(image: "c")
        #expect(bench.shown == #"{"image":"a"}"#)
        bench.setOnline(true)
        #expect(bench.shown == #"{"image":"c"}"#)
        #expect(bench.reasons == [.replacedWhileOffline])
    }

    @Test func `an offline phone gets nothing that was not to be stored, or expired`() {
        var bench = started()
        let payload = #"{"aps":{"timestamp":\#(bench.now.seconds),"event":"end"}}"#
        let token = bench.updateTokens[0]
        bench.setOnline(false)
        bench.push(to: token, payload, expiration: .immediate)
        bench.push(to: token, payload, expiration: .until(bench.now.seconds + 5))
        bench.pass(.seconds(5))
        bench.setOnline(true)
        #expect(bench.reasons == [.expiredWhileOffline, .expiredWhileOffline])
        #expect(bench.phone.cards[0].phase == .active)
    }

    @Test func `the log of ignored pushes is bounded, the count is not`() {
        var bench = started()
        for _ in 0..<2_500 { bench.push(to: "00", "{}") }
        #expect(bench.phone.ignored.count <= 2 * Phone.ignoredPushesMax)
        #expect(bench.phone.ignored.count >= Phone.ignoredPushesMax)
        #expect(bench.phone.ignoredCount == 2_500)
    }
}
