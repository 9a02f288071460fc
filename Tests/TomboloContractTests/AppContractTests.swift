import Testing

@testable import TomboloContract

@Suite struct AppContractTests {
    /// An app with a card of the user u42 whose token the relay knows.
    private func life(_ mistake: AppLife.Mistake? = nil) -> AppLife {
        var life = AppLife(mistake)
        life.issueStartToken("a1")
        life.launch()
        life.pushStart("c1", name: "order-7", token: "b1")
        life.pass(.seconds(5))
        return life
    }

    @Test func `a launch asks for tokens and cards, and a card is observed once`() {
        var life = life()
        life.launch(inFront: true)
        life.launch(inFront: true)
        #expect(life.observers == ["c1": 1])
        life.terminate()
        life.launch()
        #expect(life.observers == ["c1": 1], "the new process has an observer of its own")
        #expect(life.faults == [])
    }

    @Test func `at sign-out the user's cards end, and nothing is sent without a key`() {
        var life = life()
        life.signOut()
        #expect(life.cards.isEmpty)
        let sent = life.uploads.count
        life.issueStartToken("a2")
        life.launch(inFront: true)
        life.pass(.seconds(60))
        #expect(life.uploads.count == sent)
        life.pushStart("late", name: "order-8", token: "b8")
        #expect(life.cards.isEmpty, "a start for the former user was on its way")
        life.terminate()
        life.launch()
        life.pass(.seconds(60))
        #expect(life.uploads.count == sent, "also after a relaunch")
        life.signIn("u43")
        #expect(life.relay["/devices/phone-9"]?.contains(#""user":"u43""#) == true)
        #expect(life.token("start:OrderAttributes") == "a2")
        #expect(life.faults == [])
    }

    @Test func `another user's sign-in ends the cards of the user before`() {
        var life = life()
        life.hasNetwork = false
        life.pushStart("c2", name: "order-8", token: "b8")
        life.signIn("u43")
        #expect(life.cards.isEmpty, "without network as well")
        life.findNetwork()
        #expect(life.token("activity:order-8") == nil, "a token of the former user's card")
        #expect(life.token("start:OrderAttributes") == "a1")
        #expect(life.faults == [])
    }

    @Test func `the same user who signs in again keeps the cards`() {
        var life = life()
        life.signIn("u42")
        #expect(life.cards.count == 1)
        #expect(life.faults == [])
    }

    @Test func `a former user's key is refused once, and the next one asked for`() {
        var life = life()
        life.signIn("u43", inApp: false)
        life.issueStartToken("a2")
        life.pass(.seconds(5))
        #expect(life.keysAskedFor == 1)
        #expect(life.keyUser == "u43")
        #expect(life.token("start:OrderAttributes") == "a2")
        #expect(life.faults == [])
    }

    @Test func `without another key the app asks at the next opening, not in between`() {
        var life = life(.keepsKey)
        life.signIn("u43", inApp: false)
        life.issueStartToken("a2")
        life.pass(.seconds(3_600))
        #expect(life.keysAskedFor == 1)
        life.launch(inFront: true)
        #expect(life.keysAskedFor == 2)
    }

    @Test func `a card that the app ends is ended again where a relaunch still finds it`() {
        var contract = AppContract(device: "phone-9", facts: facts)
        _ = contract.handle(.signedIn(user: "u42"), at: .zero, time: "")
        let card = SeenCard(id: "c1", name: "order-7")
        _ = contract.handle(.appeared(card), at: .zero, time: "")
        #expect(
            contract.handle(.signedIn(user: "u43"), at: .zero, time: "") == [.end(card: "c1")])
        var next = AppContract(device: "phone-9", facts: facts, kept: contract.kept)
        #expect(next.handle(.activities([card]), at: .zero, time: "") == [.end(card: "c1")])
        #expect(next.handle(.activities([]), at: .zero, time: "") == [])
        #expect(next.handle(.appeared(card), at: .zero, time: "") == [.observe(card: "c1")])
    }

    @Test func `all that the relay does not have is kept over a relaunch`() throws {
        var contract = AppContract(device: "phone-9", facts: facts)
        _ = contract.handle(.signedIn(user: "u42"), at: .zero, time: "t0")
        _ = contract.handle(.startToken(type: "A", "a1"), at: .zero, time: "t1")
        _ = contract.handle(.widgetToken("77"), at: .zero, time: "t1")
        _ = contract.handle(.controlToken(kind: "Lock", "99"), at: .zero, time: "t1")
        _ = contract.handle(.appeared(SeenCard(id: "c1", name: "x y")), at: .zero, time: "t2")
        _ = contract.handle(.updateToken(card: "c1", "b1"), at: .zero, time: "t3")
        var word = CardWord(.active)
        (word.receivedVersion, word.drawnVersion) = (4, 3)
        _ = contract.handle(.word(card: "c1", word), at: .zero, time: "t4")
        var next = AppContract(device: "phone-9", facts: facts, kept: contract.kept)
        #expect(next.kept == contract.kept)
        var paths: [String] = []
        while let upload = next.queue.next(at: .zero) {
            paths.append(upload.path)
            _ = next.answered(upload, .answered(status: 204), at: .zero)
        }
        #expect(
            paths.map { $0.dropFirst("/devices/phone-9".count) } == [
                "", "/tokens/start:A", "/tokens/widget", "/tokens/control:Lock",
                "/tokens/activity:x%20y", "/activities/x%20y",
            ])
        #expect(next.queue.waitingCount == 0)
    }

    @Test(arguments: ["", "{", "[]", "{\"tokens\":7,\"queue\":[{\"path\":1}],\"cards\":[{}]}"])
    func `a file that cannot be read counts as none`(kept: String) {
        let contract = AppContract(device: "phone-9", facts: facts, kept: Array(kept.utf8))
        #expect(contract.kept == AppContract(device: "phone-9", facts: facts).kept)
    }

    @Test func `cards are bounded, and the oldest is forgotten`() {
        var contract = AppContract(device: "phone-9", facts: facts)
        for index in 1...AppContract.cardsMax {
            _ = contract.handle(
                .appeared(SeenCard(id: "\(index)", name: nil)), at: .zero, time: "")
        }
        #expect(contract.cards.first?.id == "1")
        _ = contract.handle(.appeared(SeenCard(id: "more", name: nil)), at: .zero, time: "")
        #expect(contract.cards.first?.id == "2")
        #expect(contract.cards.count == AppContract.cardsMax)
    }

    @Test(arguments: [(0, false), (1, true), (512, true), (513, false)])
    func `a token has one to 512 digits`(digits: Int, isTaken: Bool) {
        var contract = AppContract(device: "phone-9", facts: facts)
        let token = String(repeating: "a", count: digits)
        _ = contract.handle(.startToken(type: "A", token), at: .zero, time: "")
        #expect((contract.queue.count == 1) == isTaken)
    }

    @Test func `a word goes once per change, and a card without a name has none`() {
        var contract = AppContract(device: "phone-9", facts: facts)
        for card in [SeenCard(id: "c1", name: "order-7"), SeenCard(id: "c2", name: nil)] {
            _ = contract.handle(.appeared(card), at: .zero, time: "")
        }
        var sent: [String] = []
        for (second, phase) in [CardWord.Phase.active, .active, .stale, .stale].enumerated() {
            let now = Duration.seconds(second * 2)
            for id in ["c1", "c2", "unknown"] {
                _ = contract.handle(.word(card: id, CardWord(phase)), at: now, time: "")
            }
            while let upload = contract.queue.next(at: now) {
                sent.append(String(decoding: upload.body, as: UTF8.self))
                _ = contract.answered(upload, .answered(status: 204), at: now)
            }
        }
        #expect(sent == [#"{"phase":"active"}"#, #"{"phase":"stale"}"#])
    }

    @Test func `the last picture of an ended card is still reported`() {
        var contract = AppContract(device: "phone-9", facts: facts)
        let card = SeenCard(id: "c1", name: "order-7")
        _ = contract.handle(.appeared(card), at: .zero, time: "")
        var word = CardWord(.ended)
        for (second, drawn) in [(0, Int64(3)), (2, 4)] {
            (word.receivedVersion, word.drawnVersion) = (4, drawn)
            let now = Duration.seconds(second)
            _ = contract.handle(.word(card: "c1", word), at: now, time: "")
            let upload = contract.queue.next(at: now)
            let text = upload.map { String(decoding: $0.body, as: UTF8.self) } ?? ""
            #expect(text == #"{"phase":"ended","received_version":4,"drawn_version":\#(drawn)}"#)
            if let upload { _ = contract.answered(upload, .answered(status: 204), at: now) }
        }
        _ = contract.handle(.word(card: "c1", CardWord(.dismissed)), at: .seconds(9), time: "")
        #expect(contract.queue.count == 0)
    }

    private let facts = DeviceFacts(
        app: "com.example.app", environment: "production", os: "26.1", frequentUpdates: true)
}

/// Presence, links and taps.
@Suite struct AppWordTests {
    @Test(arguments: [
        (ScenePresence.Edge.bottom, 0.5, 0.9, true), (.bottom, 0.5, 0.899, false),
        (.topRight, 0.5, 0.1, true), (.topRight, 0.499, 0.1, false),
        (.topRight, 0.5, 0.101, false),
    ])
    func `a touch counts at the edge`(
        edge: ScenePresence.Edge, x: Double, y: Double, isAtEdge: Bool
    ) {
        var presence = ScenePresence(edge: edge)
        presence.touch(x: x, y: y, at: .zero)
        let report = presence.report(.inactive, at: .milliseconds(100))
        #expect((report.cause == "control_center") == isAtEdge)
        #expect(presence.report(.background, at: .zero).cause == nil)
        #expect(ScenePresence(edge: nil).report(.inactive, at: .zero).cause == nil)
    }

    @Test(arguments: [(false, ScenePresence.window), (true, .milliseconds(2_750))])
    func `a touch at the edge counts for a short time`(isHidden: Bool, window: Duration) {
        var presence = ScenePresence(edge: .bottom)
        presence.setStatusBar(hidden: isHidden)
        presence.touch(x: 0.5, y: 1, at: .seconds(9))
        let end = Duration.seconds(9) + window
        #expect(presence.report(.inactive, at: end - .nanoseconds(1)).cause == "control_center")
        #expect(presence.report(.inactive, at: end).cause == nil)
        #expect(presence.report(.inactive, at: .seconds(8)).cause == nil)
    }

    @Test(arguments: [
        ("app://activity/order-7", AppLink.activity("order-7")),
        ("app://activity/x%20y?from=island", .activity("x y")),
        ("app://activity/order-7~2/", .activity("order-7~2")),
        ("app://activity/", .other("app://activity/")),
        ("app://activity/%C3", .other("app://activity/%C3")),
        ("app://activity/%+1", .other("app://activity/%+1")),
        ("app://activity/%4", .other("app://activity/%4")),
        ("https://example.com/app://activity/x", .other("https://example.com/app://activity/x")),
        ("app://me", .other("app://me")), ("", .other("")),
    ])
    func `a link names a card, or is the app's own`(text: String, link: AppLink) {
        #expect(AppLink(text) == link)
    }

    @Test(arguments: ["order-7", "x y", "ü/?#%~"])
    func `the link of a card is read back`(name: String) {
        #expect(AppLink(AppLink.text(scheme: "app", activity: name)) == .activity(name))
    }

    @Test func `a tap has the words of the relay's API`() {
        let card = Tap(.activity("order-7")).body(time: "t")
        #expect(String(decoding: card, as: UTF8.self) == #"{"activity":"order-7","at":"t"}"#)
        let link = Tap(.other("app://me")).body(time: "t")
        #expect(String(decoding: link, as: UTF8.self) == #"{"link":"app://me","at":"t"}"#)
    }

    @Test(arguments: [
        (Int?(202), #"{"action":"act_1"}"#, Tap.Outcome.sent(action: "act_1")),
        (202, "", .notSent(reason: "status 202")),
        (422, #"{"code":"action-expired"}"#, .notSent(reason: "action-expired")),
        (nil, "", .notSent(reason: "no answer in 5 s")),
    ])
    func `a tap that has no id is not sent`(status: Int?, body: String, outcome: Tap.Outcome) {
        #expect(Tap.outcome(status: status, body: Array(body.utf8)) == outcome)
    }
}
