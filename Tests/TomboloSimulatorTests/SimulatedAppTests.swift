import TestSupport
import Testing
import TomboloContract
import TomboloLoop

@testable import TomboloSimulator

@Suite struct SimulatedAppTests {
    private let now = MonotonicInstant(nanoseconds: 0)
    private let later = MonotonicInstant(nanoseconds: 10_000_000_000)

    private func app(_ kind: PhoneConfiguration.App = .contract) -> SimulatedApp {
        var configuration = PhoneConfiguration(
            name: "phone-2", bundleID: "com.example.app", startTokenSeed: [1],
            updateTokenSeed: [2])
        configuration.app = kind
        configuration.budgetClass = .frequent
        configuration.frequentPushesEnabled = true
        return SimulatedApp(
            configuration, environment: .sandbox, user: "u42", tellsBudgetClass: true)
    }

    private func sent(
        _ app: inout SimulatedApp, _ outcome: UploadQueue.Outcome = .answered(status: 200),
        at now: MonotonicInstant? = nil
    ) -> [String] {
        var sent: [String] = []
        while let upload = app.next(at: now ?? self.now) {
            sent.append(upload.path + " " + String(decoding: upload.body, as: UTF8.self))
            app.answered(upload, outcome, at: now ?? self.now)
        }
        return sent
    }

    /// A bench whose effects so far the app has noted.
    private func started(_ app: inout SimulatedApp, ids: [String] = ["cat"]) -> PhoneBench {
        var bench = PhoneBench()
        for id in ids { bench.start(id: id) }
        for (card, change) in bench.changes {
            app.note(.changed(card, change), at: now, wall: bench.now)
        }
        for (id, token) in zip(ids, bench.updateTokens) {
            app.note(.tokenIssued(token, .update(activityID: id)), at: now, wall: bench.now)
        }
        return bench
    }

    @Test func `a phone introduces itself in the words of the relay's API`() {
        var app = app()
        app.introduce(at: now, wall: PhoneBench.beginning)
        app.note(
            .tokenIssued("a1f0", .start(attributesType: "RunnerWidgetAttributes")), at: now,
            wall: PhoneBench.beginning)
        let head = #"{"app":"com.example.app","environment":"sandbox","user":"u42","os":"26.1","#
        #expect(
            sent(&app) == [
                "/devices/phone-2 " + head
                    + #""frequent_updates":true,"control_center":"bottom","budget_class":"frequent"}"#,
                "/devices/phone-2/tokens/start:RunnerWidgetAttributes "
                    + #"{"token":"a1f0","observed_at":"2027-01-15T08:00:00.000000Z"}"#,
                "/devices/phone-2/presence "
                    + #"{"app":"com.example.app","phase":"background","#
                    + #""at":"2027-01-15T08:00:00.000000Z"}"#,
            ])
    }

    @Test func `the budget class is given up where the key may not set it`() throws {
        var app = app()
        app.introduce(at: now, wall: PhoneBench.beginning)
        let next = app.next(at: now)
        let upload = try #require(next)
        #expect(upload.kind == .device)
        app.answered(upload, .answered(status: 403), at: now)
        #expect(sent(&app)[0].hasSuffix(#""frequent_updates":true,"control_center":"bottom"}"#))
    }

    @Test func `the phone's word names the newest card and what it shows`() {
        var bench = PhoneBench()
        var app = app()
        bench.start(id: "cat 7")
        bench.start(id: "cat 7", image: "b")
        for (card, change) in bench.changes {
            app.note(.changed(card, change), at: now, wall: bench.now)
        }
        // The end of the older card is not the end of the activity.
        var older = bench.changes[0].card
        older.phase = .dismissed
        app.note(.changed(older, .dismissed), at: now, wall: bench.now)
        #expect(
            sent(&app) == [
                "/devices/phone-2/activities/cat%207 "
                    + #"{"phase":"active","received_state":{"image":"b"},"#
                    + #""drawn_state":{"image":"b"},"#
                    + #""shown_at":"2027-01-15T08:00:00.000000Z","shown_count":1,"#
                    + #""first_shown_at":"2027-01-15T08:00:00.000000Z"}"#
            ])
    }

    @Test func `what has no id cannot be reported`() {
        var app = app()
        let wall = PhoneBench.beginning
        app.note(.tokenIssued("aa", .update(activityID: nil)), at: now, wall: wall)
        app.note(.tokenIssued("bb", .update(activityID: "cat")), at: now, wall: wall)
        #expect(sent(&app).isEmpty, "no card has it")
    }

    @Test func `a swipe is by the user, a card that goes with the app is not`() {
        for isSwiped in [true, false] {
            var app = app()
            var card = started(&app).changes[0].card
            card.phase = .dismissed
            card.isSwiped = isSwiped
            app.note(.changed(card, .dismissed), at: now, wall: PhoneBench.beginning)
            let words = sent(&app).filter { $0.contains("/activities/") }
            #expect(words.count == 1)
            #expect(words[0].contains(#""phase":"dismissed""#))
            #expect(words[0].contains(#""by":"user""#) == isSwiped)
        }
    }

    @Test func `a careless app learns of a pushed card when it is opened`() {
        var careless = app(.careless)
        var contract = app()
        for isOpened in [false, true] {
            for kind in PhoneConfiguration.App.allCases {
                var app = kind == .careless ? careless : contract
                if isOpened {
                    app.note(.moved(.active), at: later, wall: PhoneBench.beginning)
                } else {
                    app.introduce(at: now, wall: PhoneBench.beginning)
                    _ = started(&app)
                }
                let paths = sent(&app, at: isOpened ? later : now)
                let isTold = paths.contains { $0.contains("/tokens/activity:cat") }
                #expect(isTold == (isOpened || kind == .contract), "\(kind), opened: \(isOpened)")
                if kind == .careless { careless = app } else { contract = app }
            }
        }
    }

    @Test func `a careless app uploads an empty token, and nothing that failed in the background`()
    {
        for kind in PhoneConfiguration.App.allCases {
            var app = app(kind)
            let wall = PhoneBench.beginning
            app.introduce(at: now, wall: wall)
            let start = TokenPurpose.start(attributesType: "A")
            app.note(.tokenIssued("a1", start), at: now, wall: wall)
            _ = sent(&app)
            app.note(.moved(.active), at: later, wall: wall)
            let again = sent(&app, at: later).filter { $0.contains("start:A") }
            #expect(again.map { $0.contains(#""token":"""#) } == [kind == .careless])
            app.note(.moved(.background), at: later, wall: wall)
            _ = sent(&app, at: later)
            app.note(.tokenIssued("a2", start), at: later, wall: wall)
            #expect(sent(&app, .unreachable, at: later).contains { $0.contains("a2") })
            let muchLater = later + .seconds(60)
            #expect(sent(&app, at: muchLater).contains { $0.contains("a2") } == (kind == .contract))
        }
    }
}
