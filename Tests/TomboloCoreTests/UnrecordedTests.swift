import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// What must be on record before a byte goes out that depends on it. Found by the simulation.
@Suite struct UnrecordedTests {
    private let adopted =
        #"{"type":"Runner","audience":{"device":"phone","start":"adopt"},"state":{"lap":0}}"#

    /// Seed 21275: the push had gone, the checkpoint said "nothing was sent", and the next relay's
    /// clock was an hour behind.
    @Test func `a push goes to no token that is not on record`() {
        var rig = Rig()
        rig.device("phone", .lab)
        rig.command(.start, adopted)
        rig.commitsByItself = false
        rig.token("activity:cat", "bb")
        rig.step(.tick)
        #expect(rig.pushes.isEmpty)
        #expect(rig.view()?.destinations.first?.waiting?.reason == "reserving")
        rig.commit()
        #expect(rig.pushes.map(\.push.token) == ["bb"])
    }

    @Test func `a token that its successor replaces gets nothing more meanwhile`() {
        var rig = Rig()
        rig.device("phone", .lab)
        rig.command(.start, adopted)
        rig.token("activity:cat", "bb")
        rig.update(lap: 1)
        rig.commitsByItself = false
        rig.update(lap: 2)
        let isOnItsWay = rig.take()
        #expect(isOnItsWay)
        rig.token("activity:cat", "cc")
        rig.commit()
        #expect(rig.pushes.last?.push.token == "bb")
        let before = rig.pushes.count
        rig.commit()
        #expect(rig.pushes.dropFirst(before).map(\.push.token) == ["cc"])
    }

    /// The same where a life before has sent to the token, and only its record is left.
    @Test(arguments: [false, true])
    func `timestamps go on from a token on record, whether or not a checkpoint tells of a push`(
        hasCheckpoint: Bool
    ) throws {
        var rig = Rig()
        rig.device("phone", .lab)
        rig.command(.start, adopted)
        rig.commitsByItself = hasCheckpoint
        rig.token("activity:cat", "bb")
        rig.commit()
        let sent = try #require(rig.pushes.last?.push)
        let before = rig.pushes.count
        rig.commitsByItself = true
        var recovery = rig.recovery()
        // The wall clock is an hour behind.
        recovery.lead = .hours(-1)
        recovery.before = .init(
            reading: rig.now, toldThrough: rig.now, steadyThrough: rig.now)
        rig.recover(recovery)
        rig.update(lap: 1, until: 60)
        let next = try #require(rig.pushes.last?.push)
        #expect(rig.pushes.count > before)
        #expect(timestamp(next) > timestamp(sent))
    }

    /// A card that nobody was sent anything to waits for no clock.
    @Test func `a new card is sent to at once though the clock was set back`() {
        var rig = Rig()
        rig.device("phone", .lab)
        rig.command(.start, adopted)
        var recovery = rig.recovery()
        recovery.lead = .hours(-1)
        recovery.before = .init(reading: rig.now, toldThrough: rig.now)
        rig.recover(recovery)
        rig.token("activity:cat", "bb")
        #expect(rig.pushes.count == 1)
    }

    /// Seed 27730: the card of the incarnation before got the next one's state with its end.
    @Test func `an end that was taken is the end that goes again, also after a crash`() {
        var rig = Rig.running(until: 10)
        rig.command(.end, #"{"state":{"lap":9}}"#)
        rig.advance(to: 20)
        rig.start(lap: 100, restart: true)
        rig.advance(to: 30)
        let before = rig.pushes.count
        #expect(rig.crash(recoverAt: 40).isEmpty)
        rig.advance(to: 45)
        // A card that rotates its token after its end has not heard of the end.
        rig.token("activity:cat", "cc")
        rig.advance(to: 400)
        let again = rig.pushes.dropFirst(before).map(\.push).filter { $0.token == "cc" }
        #expect(!again.isEmpty)
        #expect(again.allSatisfy { $0.event == .end && Rig.state($0) == #"{"lap":9}"# })
    }

    /// Seed 31066: a checkpoint remembered an end that was never stored.
    @Test func `an atomic batch that is refused leaves no end behind`() throws {
        var rig = Rig.running(until: 10)
        let end = try Command(.end, #"{"state":{"lap":9}}"#)
        var restart = try Command(
            .start, #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":100}}"#)
        restart.restart = true
        let wrong = try Command(.update, #"{"state":{"lap":1}}"#, id: "nobody")
        rig.step(.atomic([end, restart, wrong], Ticket(1_000)))
        #expect(rig.view()?.status == .active)
        rig.update(lap: 5, until: 20)
        #expect(rig.crash(recoverAt: 30).isEmpty)
        rig.update(lap: 6, until: 100)
        #expect(rig.pushes.last.map { Rig.state($0.push) } == #"{"lap":6}"#)
        #expect(rig.pushes.allSatisfy { $0.push.event != .end })
    }

    /// Seed 33909: the machine's clock was minutes behind Apple's and the phone's.
    @Test func `a token stays retired by Apple's clock where ours is behind it`() throws {
        var rig = Rig.running()
        rig.verdict = { push in
            push.event == .update
                ? .refusal(410, "Unregistered", .tokenGone, since: Rig.epoch + .minutes(5))
                : .accepted
        }
        rig.advance(to: 10)
        rig.update(lap: 1)
        let late = Rig.json(
            "{\"token\":\"bb\",\"observed_at\":\"\((Rig.epoch + .minutes(4)).rfc3339)\"}")
        let name = try #require(TokenName("activity:cat"))
        rig.tell(.putToken(name, try TokenRegistration(reading: late)))
        #expect(rig.lastStored?.kind == .outdated)
    }

    /// Seed 620: the card's token came when its alert had long been old news.
    @Test func `an end goes without its alert when that is past its time`() throws {
        var rig = Rig.started(.standard, until: 10)
        rig.command(.end, #"{"alert":{"title":"a","body":"b"}}"#)
        rig.advance(to: 200)
        rig.token("activity:cat", "bb")
        let end = try #require(rig.pushes.last?.push)
        #expect(end.event == .end)
        #expect(Rig.aps(end)?["alert"] == nil)
    }

    private func timestamp(_ push: Push) -> Int64 { Rig.aps(push)?["timestamp"]?.integer ?? 0 }
}
