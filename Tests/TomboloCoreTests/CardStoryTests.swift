import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// What becomes of a card is a fact, each step once.
@Suite struct CardStoryTests {
    private static let names: Set<String> = [
        "card.began", "card.lost", "card.ended", "card.dismissed",
    ]

    private static func story(_ rig: borrowing Rig) -> [String] {
        rig.facts.filter { names.contains($0.kind) }.map { fact in
            let by = JSON(unchecked: fact.body).document.root["by"]?.string
            return by.map { "\(fact.kind) by \($0)" } ?? fact.kind
        }
    }

    private static let gone = PushResult.refusal(410, "Unregistered", .tokenGone)

    @Test func `a card begins with its token, once, and a swipe is its user's`() {
        var rig = Rig.running(.lab)
        rig.token("activity:cat", "cc")
        rig.report("cat", #"{"phase":"active"}"#)
        rig.advance(to: 5)
        #expect(Self.story(rig) == ["card.began"])
        rig.report("cat", #"{"phase":"dismissed"}"#)
        rig.report("cat", #"{"phase":"dismissed","by":"user"}"#)
        rig.advance(to: 10)
        #expect(Self.story(rig) == ["card.began", "card.dismissed by user"])
    }

    @Test func `a card that was ended goes without somebody's deed`() {
        var rig = Rig.running(.lab)
        rig.command(.end, "{}")
        rig.advance(to: 5)
        rig.report("cat", #"{"phase":"ended"}"#)
        rig.report("cat", #"{"phase":"dismissed"}"#)
        rig.advance(to: 9)
        #expect(Self.story(rig) == ["card.began", "card.dismissed"])
    }

    @Test func `a dead token is a lost card, which may turn up again`() {
        var rig = Rig.running(.lab, until: 5)
        rig.verdict = { _ in Self.gone }
        rig.update(lap: 1, until: 10)
        #expect(Self.story(rig) == ["card.began", "card.lost"])
        rig.verdict = { _ in .accepted }
        rig.token("activity:cat", "cc")
        rig.advance(to: 15)
        #expect(Self.story(rig) == ["card.began", "card.lost", "card.began"])
        rig.report("cat", #"{"phase":"dismissed","by":"system"}"#)
        rig.advance(to: 20)
        #expect(Self.story(rig).last == "card.dismissed by system")
    }

    @Test func `the system ends a card for its age`() {
        let rig = Rig.running(.lab, until: 8 * 3_600 + 60)
        #expect(Self.story(rig) == ["card.began", "card.ended"])
    }

    /// Found by the simulation: by a clock that was wrong the card was over, and then it had its
    /// token.
    @Test func `a card that was over by its age begins once more with its token`() {
        var rig = Rig.started(.lab, until: 9 * 3_600)
        rig.report("cat", #"{"phase":"active"}"#)
        #expect(Self.story(rig) == ["card.ended"], "what it says may be old")
        rig.token("activity:cat", "bb")
        rig.advance(to: 9 * 3_600 + 5)
        #expect(Self.story(rig) == ["card.ended", "card.began"])
        rig.advance(to: 17 * 3_600 + 60)
        #expect(Self.story(rig) == ["card.ended", "card.began", "card.ended"])
    }

    @Test func `a card that its phone reported as over does not start again`() {
        var rig = Rig.running(.lab, until: 5)
        rig.report("cat", #"{"phase":"ended"}"#)
        rig.command(.end, "{}")
        rig.advance(to: 9 * 3_600)
        rig.token("activity:cat", "cc")
        rig.advance(to: 9 * 3_600 + 5)
        #expect(Self.story(rig) == ["card.began", "card.ended"])
    }

    @Test(arguments: [false, true])
    func `a kill tells a step neither twice nor never`(isDurable: Bool) {
        var rig = Rig.started(.lab, until: 5)
        rig.commitsByItself = false
        rig.token("activity:cat", "bb")
        // The answer comes with the record: before it, the app tells of its token again.
        if isDurable { while rig.commit() {} }
        rig.commitsByItself = true
        _ = rig.crash(recoverAt: 10)
        if !isDurable { rig.token("activity:cat", "bb") }
        rig.advance(to: 15)
        #expect(Self.story(rig) == ["card.began"])
        rig.commitsByItself = false
        rig.report("cat", #"{"phase":"dismissed","by":"user"}"#)
        if isDurable { while rig.commit() {} }
        rig.commitsByItself = true
        _ = rig.crash(recoverAt: 20)
        if !isDurable { rig.report("cat", #"{"phase":"dismissed","by":"user"}"#) }
        rig.advance(to: 25)
        #expect(Self.story(rig) == ["card.began", "card.dismissed by user"])
    }

    @Test func `the last word on a card is on disk before it is answered`() {
        var rig = Rig.running(.lab, until: 5)
        rig.commitsByItself = false
        let answers = rig.answers.count
        rig.report("cat", #"{"phase":"active"}"#)
        #expect(rig.answers.count == answers + 1)
        rig.report("cat", #"{"phase":"dismissed","by":"user"}"#)
        #expect(rig.answers.count == answers + 1)
        while rig.commit() {}
        #expect(rig.answers.count == answers + 2)
    }
}
