import Testing
import TomboloJSON

@testable import TomboloSimulator

/// What a phone draws of the states it has, and what goes wrong without a word.
@Suite struct PhoneDrawingTests {
    private func drawn(_ bench: PhoneBench) -> String {
        bench.phone.cards.last.map { String(decoding: $0.drawnState, as: UTF8.self) } ?? ""
    }

    @Test func `one picture in five seconds, the newest at the end`() {
        var bench = PhoneBench.started()
        for index in 1...4 {
            bench.pass(.seconds(1))
            bench.change(image: "\(index)")
        }
        #expect(drawn(bench) == #"{"image":"a"}"#)
        bench.pass(.seconds(1))
        #expect(drawn(bench) == #"{"image":"4"}"#)
        #expect(bench.phone.cards[0].drawnCount == 2)
        #expect(bench.pictures.map(\.drawnAt) == [PhoneBench.beginning + .seconds(5)])
        bench.pass(.seconds(20))
        bench.change(image: "5")
        #expect(drawn(bench) == #"{"image":"5"}"#, "after a rest at once")
    }

    @Test(arguments: [
        ("17.6", PhoneConfiguration.BudgetClass.standard, false, Duration.zero),
        ("18.0", .standard, false, .seconds(5)), ("26.1", .frequent, false, .seconds(5)),
        ("26.1", .standard, true, .seconds(15)), ("26.1", .lab, false, .zero),
    ])
    func `how often depends on OS, watch and class`(
        os: String, budgetClass: PhoneConfiguration.BudgetClass, hasWatch: Bool, every: Duration
    ) {
        let bench = PhoneBench.started {
            $0.os = os
            $0.budgetClass = budgetClass
            $0.hasWatch = hasWatch
        }
        #expect(bench.phone.drawsEvery == every)
    }

    @Test func `an equal state is drawn again only where it may have changed meanwhile`() {
        var bench = PhoneBench.started { $0.drawsEvery = .zero }
        bench.change(image: "b")
        bench.change(image: "b")
        #expect(bench.phone.cards[0].drawnCount == 2)
        var slow = PhoneBench.started()
        slow.change(image: "b")
        slow.change(image: "a")
        slow.pass(.seconds(5))
        #expect(drawn(slow) == #"{"image":"a"}"#)
    }

    @Test func `the end's state is drawn, though later`() {
        var bench = PhoneBench.started()
        bench.pass(.seconds(6))
        bench.change(image: "b")
        bench.change("end", image: "z")
        #expect(drawn(bench) == #"{"image":"b"}"#)
        bench.pass(.seconds(5))
        #expect(drawn(bench) == #"{"image":"z"}"#)
    }

    @Test func `a frozen extension keeps its picture, and the state is right`() {
        var bench = PhoneBench.started { $0.drawsEvery = .zero }
        bench.perform { $0.setTrouble(Self.trouble(.extensionFrozen), at: $1) }
        bench.change(image: "b")
        #expect(bench.shown == #"{"image":"b"}"#)
        #expect(drawn(bench) == #"{"image":"a"}"#)
        #expect(bench.reasons == [])
        bench.perform { $0.setTrouble(PhoneTrouble(), at: $1) }
        #expect(drawn(bench) == #"{"image":"b"}"#, "it thaws")
    }

    @Test func `a spinner hides the picture until the app is opened`() {
        var bench = PhoneBench.started {
            $0.drawsEvery = .zero
            $0.trouble = Self.trouble(.loadingOverlay)
        }
        bench.change(image: "b")
        #expect(bench.phone.cards[0].hasOverlay)
        #expect(drawn(bench) == #"{"image":"a"}"#)
        bench.perform { $0.move(to: .active, at: $1) }
        #expect(!bench.phone.cards[0].hasOverlay)
        #expect(drawn(bench) == #"{"image":"b"}"#)
    }

    @Test func `a stale date passes without a picture where nothing lives to draw it`() {
        for isDead in [false, true] {
            var bench = PhoneBench.started()
            bench.change(extra: #","stale-date":\#(bench.now.seconds + 10)"#)
            bench.pass(.seconds(6))
            bench.perform { $0.setTerminated(isDead, at: $1) }
            bench.pass(.seconds(4))
            #expect(bench.phone.cards[0].phase == .stale)
            #expect((bench.phone.cards[0].drawnPhase == .stale) == !isDead)
        }
        var bench = PhoneBench.started { $0.trouble = Self.trouble(.staleNotDrawn) }
        bench.change(extra: #","stale-date":\#(bench.now.seconds + 10)"#)
        bench.pass(.seconds(10))
        #expect(bench.phone.cards[0].drawnPhase == .active)
    }

    @Test func `a state with line breaks is written in one line`() throws {
        var bench = PhoneBench.started { $0.drawsEvery = .zero }
        let aps = #"{"aps":{"timestamp":\#(bench.now.seconds),"event":"update","#
        bench.push(
            to: bench.updateTokens[0],
            aps + "\"content-state\":{\r\n  \"image\": \"b\",\n \"more\": {\n\"a\":\r1}}}}")
        #expect(drawn(bench) == "{\"image\":\"b\",\"more\":{\n\"a\":\r1}}")
        let line = SimulatorLine.island(
            phone: "phone-1", bench.phone.cards[0], .shown, isDrawn: true, at: bench.now)
        #expect(!line.contains(0x0a) && !line.contains(0x0d))
        let read = try JSONDocument(line).root
        #expect(read["state"]?["image"]?.string == "b")
    }

    @Test func `a push that does not decode loses its alert`() {
        var bench = PhoneBench.started()
        let aps = #"{"aps":{"timestamp":\#(bench.now.seconds),"event":"update","#
        bench.push(
            to: bench.updateTokens[0],
            aps + #""content-state":{"image":7},"alert":{"title":"Lost"}}}"#)
        #expect(bench.phone.cards[0].alert == "Go")
        #expect(bench.reasons == [.contentStateDoesNotDecode])
    }

    @Test func `on a locked phone priority 5 waits for the next at 10, or for the user`() {
        var bench = PhoneBench.started { $0.drawsEvery = .zero }
        bench.perform { $0.setLocked(true, at: $1) }
        bench.change(image: "b")
        bench.pass(.seconds(50))
        #expect(bench.shown == #"{"image":"a"}"#)
        bench.change(image: "c", priority: 10)
        #expect(bench.shown == #"{"image":"c"}"#)
        bench.change(image: "d")
        bench.perform { $0.setLocked(false, at: $1) }
        #expect(bench.shown == #"{"image":"d"}"#)
        var other = PhoneBench.started { $0.holdsLowPriorityWhileLocked = false }
        other.perform { $0.setLocked(true, at: $1) }
        other.change(image: "b")
        #expect(other.shown == #"{"image":"b"}"#)
    }

    @Test func `low power and a silent token start nothing until that ends`() {
        var bench = PhoneBench { $0.trouble = Self.trouble(.startTokenSilent) }
        bench.start()
        #expect(bench.reasons == [.startTokenSilent])
        bench.perform { $0.move(to: .active, at: $1) }
        bench.start()
        #expect(bench.phone.cards.count == 1, "the app was opened")
    }

    @Test func `a silent stream tells the start token when the app is opened`() {
        var bench = PhoneBench { $0.trouble = Self.trouble(.startStreamSilent) }
        #expect(bench.startToken == "" && bench.silentTokens.count == 1)
        bench.perform { $0.move(to: .active, at: $1) }
        #expect(bench.startToken == bench.silentTokens[0])
    }

    @Test func `chance keeps update tokens back, until "Allow"`() {
        var bench = PhoneBench {
            $0.trouble.noUpdateToken = 0.64
            $0.startBudget = .init(count: 200)
        }
        for index in 0..<200 { bench.start(id: "cat-\(index)") }
        #expect((40...105).contains(bench.updateTokens.count), "\(bench.updateTokens.count)")
        let count = bench.updateTokens.count
        let lacking = bench.phone.cards.first { $0.updateToken == nil }?.activityID ?? ""
        bench.perform { $0.allow(activityID: lacking, at: $1) }
        #expect(bench.updateTokens.count == count + 1)
        let other = bench.phone.cards.first { $0.updateToken == nil }?.activityID ?? ""
        bench.perform { $0.deny(activityID: other, at: $1) }
        bench.pass(.seconds(60))
        #expect(bench.updateTokens.count == count + 1)
    }

    @Test func `a start may come later than it was taken`() throws {
        var bench = PhoneBench { $0.trouble.startJitter = .seconds(40) }
        bench.start()
        #expect(bench.phone.cards.isEmpty)
        let due = try #require(bench.phone.deadline)
        #expect(due > bench.now && due <= bench.now + .seconds(40))
        bench.pass(due - bench.now)
        #expect(bench.phone.cards.count == 1)
        #expect(bench.phone.cards[0].startedAt == due)
    }

    @Test func `starts that come late are one card each, and a new installation forgets them`() {
        var bench = PhoneBench { $0.trouble.startJitter = .seconds(40) }
        for index in 0..<4 { bench.start(id: "cat-\(index)") }
        bench.pass(.seconds(60))
        #expect(bench.phone.cards.count == 4)
        bench.start(id: "late")
        bench.perform { $0.reinstall(at: $1) }
        bench.pass(.seconds(60))
        #expect(bench.phone.cards.isEmpty && bench.phone.deadline == nil)
    }

    @Test func `what a locked phone kept for an hour is shown, broadcasts too`() {
        var bench = PhoneBench.started { $0.drawsEvery = .zero }
        bench.start(id: "match", extra: #","input-push-channel":"c2NvcmU=""#)
        bench.perform { $0.setLocked(true, at: $1) }
        bench.change(image: "low", token: bench.updateTokens[0])
        bench.broadcast(image: "goal", priority: 5)
        bench.pass(.seconds(3_600))
        #expect(bench.phone.cards.map(\.shownCount) == [1, 1])
        bench.perform { $0.setLocked(false, at: $1) }
        #expect(bench.phone.cards.map(\.shownCount) == [2, 2])
        #expect(bench.reasons == [])
    }

    @Test func `what was to come together waits for a phone that was locked meanwhile`() {
        var bench = PhoneBench.started {
            $0.drawsEvery = .zero
            $0.lowPriorityGrouping = .seconds(10)
        }
        bench.change(image: "b")
        bench.perform { $0.setLocked(true, at: $1) }
        bench.pass(.seconds(30))
        #expect(bench.shown == #"{"image":"a"}"#)
        bench.perform { $0.setLocked(false, at: $1) }
        #expect(bench.shown == #"{"image":"b"}"#)
    }

    @Test func `an app that is closed is not in front, and opens again`() {
        var bench = PhoneBench.started()
        bench.perform { $0.move(to: .active, at: $1) }
        bench.perform { $0.setTerminated(true, at: $1) }
        #expect(bench.phone.presence == .background && bench.phone.isTerminated)
        bench.perform { $0.move(to: .active, at: $1) }
        #expect(!bench.phone.isTerminated)
        bench.perform { $0.setTerminated(true, at: $1) }
        bench.perform { $0.reinstall(at: $1) }
        #expect(!bench.phone.isTerminated)
    }

    @Test func `a token may die in mid-life, and its card stays`() {
        var bench = PhoneBench.started { $0.trouble.tokenDiesAfter = .seconds(1_800) }
        bench.pass(.seconds(1_800))
        #expect(bench.retiredTokens == bench.updateTokens)
        #expect(bench.phone.cards[0].phase == .active)
    }

    @Test func `an app that is installed again has other tokens and no card`() {
        var bench = PhoneBench.started()
        let (start, update) = (bench.startToken, bench.updateTokens)
        for index in 1...14 { bench.change(image: "\(index)", priority: 10) }
        bench.perform { $0.reinstall(at: $1) }
        #expect(bench.phone.cards.isEmpty)
        #expect(Set(bench.retiredTokens).isSuperset(of: update + [start]))
        #expect(bench.startToken != start)
        bench.start(id: "dog")
        #expect(bench.phone.cards.map(\.activityID) == ["dog"])
    }

    private static func trouble(_ kind: PhoneTrouble.Kind) -> PhoneTrouble {
        var trouble = PhoneTrouble()
        trouble.kinds = [kind]
        return trouble
    }
}
