import Testing

@testable import TomboloSimulator

@Suite struct PhoneUpdateTests {
    @Test func `shown counts the changes, not the pushes`() throws {
        var bench = PhoneBench.started()
        bench.pass(.seconds(1))
        bench.change(image: "b")
        bench.pass(.seconds(1))
        bench.change(image: "b")
        let card = try #require(bench.phone.cards.first)
        #expect(card.shownCount == 2)
        #expect(card.firstShownAt == PhoneBench.beginning)
        #expect(card.shownAt == PhoneBench.beginning + .seconds(1))
        #expect(bench.changes.map(\.change) == [.shown, .shown])
    }

    @Test func `equal timestamps count in the order of arrival, older ones not at all`() {
        var bench = PhoneBench.started()
        bench.change(image: "b")
        bench.change(image: "c")
        #expect(bench.shown == #"{"image":"c"}"#)
        bench.change(image: "d", timestamp: "\(bench.now.seconds - 1)")
        #expect(bench.shown == #"{"image":"c"}"#)
        #expect(bench.reasons == [.timestampOlderThanShown])
        #expect(bench.phone.cards[0].ignoredCount == 1)
    }

    @Test func `an update older than 60 s is in the past`() {
        var bench = PhoneBench.started()
        bench.pass(.seconds(100))
        bench.change(timestamp: "\(bench.now.seconds - 61)")
        #expect(bench.reasons == [.timestampInThePast])
        bench.change(timestamp: "\(bench.now.seconds - 60)")
        #expect(bench.shown == #"{"image":"b"}"#)
    }

    @Test func `an update more than 8 hours ahead is ignored`() {
        var bench = PhoneBench.started()
        bench.change(timestamp: "\(bench.now.seconds + 8 * 3_600 + 1)")
        #expect(bench.reasons == [.timestampTooFarAhead])
        bench.change(timestamp: "\(bench.now.seconds + 8 * 3_600)")
        #expect(bench.shown == #"{"image":"b"}"#)
    }

    @Test func `milliseconds, fractions and no timestamp at all are ignored`() {
        var bench = PhoneBench.started()
        bench.change(timestamp: "\(bench.now.milliseconds)")
        bench.change(timestamp: "\(bench.now.seconds).5")
        bench.change(timestamp: "\"\(bench.now.seconds)\"")
        #expect(
            bench.reasons == [
                .timestampInMilliseconds, .timestampNotWholeSeconds, .timestampMissing,
            ])
    }

    @Test func `a state that does not decode is ignored, an unknown member is not`() {
        var bench = PhoneBench.started()
        let token = bench.updateTokens[0]
        let now = bench.now.seconds
        let head = #"{"aps":{"timestamp":\#(now),"event":"update","content-state":"#
        bench.push(to: token, head + #"{"image":7}}}"#, priority: 5)
        bench.push(to: token, head + #"{"picture":"x"}}}"#, priority: 5)
        bench.push(to: token, head + #"[]}}"#, priority: 5)
        #expect(
            bench.phone.ignored.map(\.detail) == [
                "/image is not a string", "/image is missing", "the value is not an object",
            ])
        bench.push(to: token, head + #"{"image":"x","lap":2}}}"#, priority: 5)
        #expect(bench.shown == #"{"image":"x","lap":2}"#)
    }

    @Test func `nonsense is ignored`() {
        var bench = PhoneBench.started()
        let token = bench.updateTokens[0]
        bench.push(to: token, "{}", priority: 5)
        bench.push(to: token, #"{"aps":{"event":"move","timestamp":1}}"#, priority: 5)
        bench.change(image: nil)
        #expect(bench.reasons == [.unreadable, .unreadable, .contentStateMissing])
    }

    @Test(arguments: [
        (PhoneConfiguration.BudgetClass.standard, false, 5),
        (.frequent, true, 22), (.frequent, false, 5),
    ])
    func `in a bucket priority 10 has a budget by class, priority 5 has none`(
        budgetClass: PhoneConfiguration.BudgetClass, enabled: Bool, depth: Int
    ) {
        var bench = PhoneBench.started {
            $0.budgetModel = .bucket
            $0.budgetClass = budgetClass
            $0.frequentPushesEnabled = enabled
        }
        for index in 0..<depth { bench.change(image: "\(index)", priority: 10) }
        #expect(bench.phone.cards[0].shownCount == depth + 1)
        bench.change(image: "x", priority: 10)
        #expect(bench.reasons == [.updateBudgetExceeded])
        bench.change(image: "y", priority: 5)
        #expect(bench.shown == #"{"image":"y"}"#)
        bench.pass(.seconds(3_600))
        bench.change(image: "z", priority: 10)
        #expect(bench.shown == #"{"image":"z"}"#)
    }

    @Test func `the lab has no budget`() {
        var bench = PhoneBench.started { $0.budgetClass = .lab }
        for index in 0..<1_000 { bench.change(image: "\(index)", priority: 10) }
        #expect(bench.phone.cards[0].shownCount == 1_001)
    }

    @Test func `a card goes stale at its date and fresh with a new one`() {
        var bench = PhoneBench.started()
        bench.change(extra: #","stale-date":\#(bench.now.seconds + 10)"#)
        bench.pass(.seconds(10))
        #expect(bench.phone.cards[0].phase == .stale)
        bench.change(extra: #","stale-date":\#(bench.now.seconds + 10)"#)
        #expect(bench.phone.cards[0].phase == .active)
        #expect(bench.changes.map(\.change) == [.shown, .shown, .stale, .active])
        bench.change(extra: #","stale-date":1.5"#)
        #expect(bench.reasons == [.dateNotWholeSeconds])
    }
}
