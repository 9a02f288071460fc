import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

@Suite struct DeadLetterTests {
    private static let topicDisallowed = PushResult.refusal(400, "TopicDisallowed", .push)

    /// A start that Apple has refused permanently; from now on Apple takes all.
    private static func refusedStart() -> Rig {
        var rig = Rig.phone()
        rig.verdict = { _ in topicDisallowed }
        rig.command(.start, #"{"type":"Runner","audience":{"device":"phone"},"state":{}}"#)
        rig.verdict = { _ in .accepted }
        rig.advance(to: 5)
        return rig
    }

    private func letters(_ rig: borrowing Rig) -> [DeadLetter] {
        rig.core.deadLetters(DeadLetterQuery(tenant: Rig.tenant), before: nil, limit: 100).letters
    }

    @Test func `a final refusal is kept with its cause, even after a crash`() throws {
        var rig = Rig.running(until: 20)
        rig.verdict = { _ in Self.topicDisallowed }
        rig.update(lap: 1, until: 25)
        let letter = try #require(letters(rig).first)
        #expect(letter.reason == "TopicDisallowed" && letter.status == 400)
        #expect(letter.eventName == "update" && letter.version == 2 && letter.id == "dead_1")
        #expect(rig.crash(recoverAt: 30).isEmpty)
        #expect(letters(rig) == [letter])
    }

    @Test func `a retry sends the newest state once, and the letter is gone`() {
        var rig = Rig.running(until: 20)
        rig.verdict = { _ in Self.topicDisallowed }
        rig.update(lap: 1, until: 60)
        rig.verdict = { _ in .accepted }
        let before = rig.pushes.count
        var query = DeadLetterQuery(tenant: Rig.tenant)
        query.reason = "TopicDisallowed"
        rig.step(.retry(query, Ticket(9_001)))
        rig.advance(to: 90)
        #expect(rig.pushes.dropFirst(before).map { Rig.state($0.push) } == [#"{"lap":1}"#])
        #expect(rig.lastStored?.count == 1)
        #expect(letters(rig).isEmpty)
        query.reason = nil
        query.serial = 1
        rig.step(.retry(query, Ticket(9_002)))
        #expect(rig.lastRefusal == .unknownDeadLetter)
    }

    /// Found by the simulation: the end came with the next incarnation's state.
    @Test func `a refused end goes again as it was, also after a restart and a crash`() {
        var rig = Rig.running(until: 20)
        rig.verdict = { _ in Self.topicDisallowed }
        rig.command(.end, #"{"dismiss":"now"}"#)
        rig.verdict = { _ in .accepted }
        rig.start(lap: 7, restart: true)
        rig.advance(to: 40)
        #expect(rig.crash(recoverAt: 50).isEmpty)
        let before = rig.pushes.count
        rig.retry(until: 90)
        #expect(rig.lastStored?.count == 1 && rig.lastStored?.unreachable == 0)
        let ends = rig.pushes.dropFirst(before).map(\.push).filter { $0.event == .end }
        #expect(!ends.isEmpty && ends.allSatisfy { Rig.state($0) == #"{"lap":0}"# })
    }

    @Test func `a refused start and a refused end can go again`() {
        var rig = Self.refusedStart()
        rig.retry()
        rig.token("activity:cat", "bb")
        rig.verdict = { _ in Self.topicDisallowed }
        rig.advance(to: 30)
        rig.command(.end, "{}")
        rig.verdict = { _ in .accepted }
        rig.advance(to: 40)
        rig.retry(until: 60)
        #expect(rig.pushes.map { Rig.letter($0.push.event) } == ["S", "S", "E", "E"])
        #expect(rig.view()?.destinations.first?.phase == "ended")
    }

    /// Found by the simulation: a card that its user had dismissed came a second time.
    @Test(arguments: [false, true], [false, true])
    func `a refused start is not tried again where a card has begun since`(
        again: Bool, crashes: Bool
    ) {
        var rig = Self.refusedStart()
        if again {
            rig.tell(.delete)
            rig.device()
            rig.token("start:Runner", "cc")
            rig.advance(to: 8)
        }
        rig.token("activity:cat", "bb")
        rig.report("cat", #"{"phase":"dismissed","by":"user"}"#)
        rig.advance(to: 10)
        if crashes { #expect(rig.crash(recoverAt: 11).isEmpty) }
        #expect(letters(rig).map(\.event) == [.start])
        let before = rig.pushes.count
        rig.retry(until: 60)
        #expect(rig.line(from: before) == "")
        #expect(rig.lastStored?.count == 0 && rig.lastStored?.unreachable == 1)
        #expect(rig.lastStored?.kept == [KeptLetters(.cardBegun, count: 1)])
    }

    @Test func `a refused start whose activity has ended is not said to have a card`() {
        var rig = Self.refusedStart()
        rig.token("activity:cat", "bb")
        rig.command(.end, "{}")
        rig.advance(to: 20)
        #expect(rig.view()?.destinations.first?.phase == "ended")
        rig.retry(until: 60)
        #expect(rig.lastStored?.kept == [KeptLetters(.cardOver, count: 1)])
        #expect(RetryObstacle.cardBegun.sentence.contains("may have begun"))
    }

    @Test func `a refused start goes again after a crash`() {
        var rig = Self.refusedStart()
        #expect(rig.crash(recoverAt: 6).isEmpty)
        rig.retry(until: 60)
        #expect(rig.pushes.map { Rig.letter($0.push.event) } == ["S", "S"])
    }

    @Test func `the refused start of a new card is not tried again as the old card's`() {
        for crashes in [false, true] {
            var rig = CardLifeTests.running(#","renew":"always""#)
            rig.verdict = { $0.event == .start ? Self.topicDisallowed : .accepted }
            rig.advance(to: 8 * CardLifeTests.hour - 1_100)
            rig.verdict = { _ in .accepted }
            if crashes { #expect(rig.crash(recoverAt: 8 * CardLifeTests.hour - 1_090) == []) }
            let before = rig.pushes.count
            rig.retry(until: 8 * CardLifeTests.hour - 1_000)
            let starts = rig.pushes.dropFirst(before).map(\.push).filter { $0.event == .start }
            let ids = starts.map { Rig.aps($0)?["attributes"]?["activity_id"]?.string }
            #expect(ids == ["cat~1.1"], "\(crashes)")
        }
    }

    @Test func `a refused push of a channel is sent to it again`() {
        var rig = Rig()
        rig.channel("final", "Y2g=")
        rig.device("final")
        rig.command(.start, ChannelTests.onFinal)
        rig.advance(to: 20)
        rig.verdict = { _ in Self.topicDisallowed }
        rig.command(.update, #"{"state":{"goals":1}}"#)
        rig.advance(to: 40)
        rig.verdict = { _ in .accepted }
        let before = rig.pushes.count
        rig.retry(until: 60)
        #expect(rig.lastStored?.count == 1 && letters(rig).isEmpty)
        let again = rig.pushes.dropFirst(before).map(\.push)
        #expect(again.map(\.surface) == [.channel])
        #expect(again.map { Rig.state($0) } == [#"{"goals":1}"#])
    }

    @Test func `without a card the letter stays, and the answer says so`() {
        var rig = Rig.running(until: 20)
        rig.verdict = { _ in Self.topicDisallowed }
        rig.update(lap: 1)
        rig.verdict = { _ in .accepted }
        rig.tell(.delete)
        rig.retry()
        #expect(rig.lastStored?.count == 0 && rig.lastStored?.unreachable == 1)
        #expect(rig.lastStored?.kept == [KeptLetters(.noCard, count: 1)])
        let query = DeadLetterQuery(tenant: Rig.tenant)
        #expect(rig.core.deadLetters(query, before: nil, limit: 9).letters.count == 1)
        #expect(rig.crash(recoverAt: 30) == [])
        #expect(rig.core.deadLetters(query, before: nil, limit: 9).letters.count == 1)
    }

    @Test func `a retry by the apns-id is of that letter alone`() throws {
        var rig = Rig.running()
        rig.verdict = { _ in Self.topicDisallowed }
        rig.laps(1...2) { Double($0) * 60 }
        rig.advance(to: 180)
        rig.verdict = { _ in .accepted }
        let all = letters(rig)
        try #require(all.count == 2)
        var query = DeadLetterQuery(tenant: Rig.tenant)
        query.apnsID = APNsID(text: all[1].apnsID)
        rig.step(.retry(query, Ticket(9_001)))
        #expect(rig.lastStored?.count == 1)
        #expect(letters(rig) == [all[0]])
        rig.advance(to: 240)
        rig.step(.retry(query, Ticket(9_002)))
        #expect(rig.lastRefusal == .unknownDeadLetter, "of one that is not there any more")
        #expect(letters(rig) == [all[0]])
    }

    @Test func `another tenant's letters are not visible`() {
        var rig = Rig.running(until: 20)
        rig.verdict = { _ in Self.topicDisallowed }
        rig.update(lap: 1)
        let other = TenantID(Identifier("other")!)
        let page = rig.core.deadLetters(DeadLetterQuery(tenant: other), before: nil, limit: 100)
        #expect(page.letters.isEmpty)
    }
}

@Suite struct TokenLifeTests {
    private static func gone(_ since: Instant?) -> PushResult {
        .refusal(410, "Unregistered", .tokenGone, since: since)
    }

    private func register(
        _ rig: inout Rig, _ name: String, _ token: String, observed: Double
    ) -> Stored.Kind? {
        let at = (Rig.epoch + Span(nanoseconds: Int64(observed * 1e9))).rfc3339
        let view = Rig.json(#"{"token":"\#(token)","observed_at":"\#(at)"}"#)
        // A test's own text: if it cannot be read, the test is wrong, and says so.
        guard let registration = try? TokenRegistration(reading: view) else {
            Issue.record("\(token)")
            return nil
        }
        rig.tell(.putToken(TokenName(name)!, registration))
        return rig.lastStored?.kind
    }

    /// Found by the simulation: what a late upload told was taken once its successor was dead.
    @Test(arguments: [false, true])
    func `a token from before one that is dead is not taken`(withCrash: Bool) {
        var rig = Rig.running(until: 20)
        #expect(register(&rig, "activity:cat", "cc", observed: 20) == .updated)
        rig.verdict = { _ in Self.gone(Rig.epoch + .seconds(60)) }
        rig.advance(to: 60)
        rig.update(lap: 1, until: 70)
        #expect(rig.view()?.destinations.first?.phase == "unreachable")
        if withCrash { #expect(rig.crash(recoverAt: 80).isEmpty) }
        #expect(register(&rig, "activity:cat", "bb", observed: 5) == .outdated)
        #expect(register(&rig, "activity:cat", "dd", observed: 30) == .created, "its successor")
    }

    @Test func `a token that Apple declared dead is not brought back by a late registration`() {
        var rig = Rig.running(until: 20)
        rig.verdict = { _ in Self.gone(Rig.epoch + .seconds(19)) }
        rig.update(lap: 1)
        #expect(rig.view()?.destinations.first?.phase == "unreachable")
        rig.advance(to: 30)
        #expect(register(&rig, "activity:cat", "bb", observed: 5) == .outdated)
        #expect(rig.crash(recoverAt: 40).isEmpty)
        #expect(register(&rig, "activity:cat", "bb", observed: 5) == .outdated)
        rig.verdict = { _ in .accepted }
        #expect(register(&rig, "activity:cat", "cc", observed: 41) == .created)
        rig.advance(to: 60)
        #expect(rig.pushes.last?.push.token == "cc")
    }

    @Test func `the same token seen alive after its death is a new generation`() {
        var rig = Rig.running(until: 20)
        rig.verdict = { _ in Self.gone(nil) }
        rig.update(lap: 1)
        rig.verdict = { _ in .accepted }
        rig.advance(to: 30)
        #expect(register(&rig, "activity:cat", "bb", observed: 29) == .created)
        rig.advance(to: 60)
        #expect(rig.view()?.destinations.first?.phase == "live")
    }

    @Test func `a set of tokens is the whole set, and spares what came later`() throws {
        var rig = Rig()
        rig.device()
        rig.token("start:Old", "aa")
        rig.advance(to: 10)
        _ = register(&rig, "widget", "cc", observed: 9)
        let set = try TokenSet(
            reading: Rig.json(
                #"{"tokens":{"start:New":{"token":"bb"}},"observed_at":"2023-11-14T22:13:25Z"}"#))
        rig.tell(.putTokens(set))
        let key = DeviceKey(tenant: Rig.tenant, id: Identifier("phone")!)
        #expect(
            rig.core.deviceView(key, now: rig.now)?.tokens.map(\.name) == ["start:New", "widget"])
    }

    @Test(arguments: [false, true])
    func `what was registered before a set that does not name it comes too late`(
        withCrash: Bool
    ) throws {
        func set(_ names: String, _ second: Int64) throws -> DeviceCommand {
            let at = (Rig.epoch + .seconds(second)).rfc3339
            return .putTokens(
                try TokenSet(reading: Rig.json(#"{"tokens":\#(names),"observed_at":"\#(at)"}"#)))
        }
        var rig = Rig()
        rig.device()
        rig.advance(to: 100)
        rig.tell(try set(#"{"start:New":{"token":"bb"}}"#, 50))
        if withCrash { #expect(rig.crash(recoverAt: 110).isEmpty) }
        #expect(register(&rig, "widget", "cc", observed: 40) == .outdated, "on its way for long")
        #expect(register(&rig, "widget", "cc", observed: 60) == .created)
        rig.tell(try set(#"{"control:old":{"token":"dd"}}"#, 30))
        let key = DeviceKey(tenant: Rig.tenant, id: Identifier("phone")!)
        let names = rig.core.deviceView(key, now: rig.now)?.tokens.map(\.name)
        #expect(names == ["start:New", "widget"], "a set may be late too")
        // An app whose clock is a day ahead.
        rig.tell(try set("{}", 86_400))
        rig.advance(to: 130)
        #expect(register(&rig, "widget", "ee", observed: 125) == .created)
    }

    @Test func `a fault in a set of tokens is refused with its place`() {
        #expect {
            try TokenSet(reading: Rig.json(#"{"tokens":{"widget":{"token":"a"},"what":{}}}"#))
        } throws: { error in
            (error as? FieldErrors)?.errors.map(\.pointer) == [
                "/tokens/widget/token", "/tokens/what",
            ]
        }
    }
}
