import Testing
import TomboloJSON

@testable import TomboloSimulator

/// Cards over a restart of the simulator.
@Suite struct PhoneKeptTests {
    @Test func `a card is there after a restart, and its token still changes it`() throws {
        var bench = PhoneBench()
        bench.start(image: "a/b")
        let (card, token) = (try #require(bench.phone.cards.first), bench.updateTokens[0])
        var writer = JSONWriter()
        bench.phone.keep(to: &writer)

        var again = PhoneBench()
        let effects = again.phone.restore(try JSONDocument(writer.bytes).root, at: again.now)
        #expect(effects.contains(.tokenIssued(token, .update(activityID: "cat"))))
        let kept = try #require(again.phone.cards.first)
        #expect(kept.contentState == card.contentState && kept.startedAt == card.startedAt)
        #expect(kept.number == card.number && kept.activityID == "cat" && kept.phase == .active)
        again.push(
            to: token,
            #"{"aps":{"timestamp":\#(again.now.seconds + 1),"event":"update","#
                + #""content-state":{"image":"c"}}}"#)
        #expect(again.shown == #"{"image":"c"}"#)
        again.start(id: "dog", image: "d")
        #expect(again.phone.cards.map(\.number) == [card.number, card.number + 1])
    }

    @Test func `a damaged file makes no phone fail later`() throws {
        var bench = PhoneBench()
        let (low, high) = (Int64.min, Int64.max)
        let card = #""number":1,"type":"RunnerWidgetAttributes","state":{},"timestamp":1"#
        let file = """
            {"next_card":\(high),"cards":[
            {\(card),"started_at":\(PhoneBench.beginning.nanoseconds),"shown_count":\(high)},
            {\(card),"started_at":\(PhoneBench.beginning.nanoseconds)},
            {"number":2,"type":"T","state":{},"timestamp":1,"started_at":\(low)}]}
            """
        _ = bench.phone.restore(try JSONDocument(Array(file.utf8)).root, at: bench.now)
        #expect(bench.phone.cards.map(\.number) == [1])
        bench.start(id: "dog")
        #expect(bench.phone.cards.map(\.number) == [1, 2])
    }

    @Test(arguments: ["[]", "{}", #"{"cards":[{}, 1, {"number":"1"}]}"#, #"{"next_card":1e99}"#])
    func `what another program wrote is no card`(file: String) throws {
        var bench = PhoneBench()
        #expect(bench.phone.restore(try JSONDocument(Array(file.utf8)).root, at: bench.now) == [])
        #expect(bench.phone.cards.isEmpty)
    }
}
