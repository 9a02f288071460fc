import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// The causes behind the seeds of `Simulation/KNOWN.md`, each as a short history by hand. A cause
/// that is cured loses its `withKnownIssue`.
@Suite struct KnownCauseTests {
    private static let start =
        #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0}}"#

    private func waiting(_ rig: borrowing Rig) -> Int64 {
        rig.ledgers().first?.ledger.waiting(at: 1) ?? 0
    }

    @Test func `a start's wait goes on over a crash before its card's first checkpoint`() {
        var rig = Rig()
        rig.device()
        rig.commitsByItself = false
        rig.command(
            .start, #"{"type":"Runner","audience":{"device":"phone"},"state":{},"start_wait":"1m"}"#
        )
        rig.commit()
        #expect(rig.crash(recoverAt: 50) == [])
        rig.commitsByItself = true
        rig.step(.tick)
        #expect(waiting(rig) == 1)
        rig.advance(to: 61)
        #expect(waiting(rig) == 0)
    }

    @Test func `a phone that joined late has its own wait, also over such a crash`() {
        var rig = Rig()
        rig.command(
            .start, #"{"type":"Runner","audience":{"user":"ann"},"state":{},"start_wait":"1m"}"#)
        rig.advance(to: 30)
        rig.commitsByItself = false
        rig.device("phone", user: "ann")
        rig.commit()
        #expect(rig.crash(recoverAt: 50) == [])
        rig.commitsByItself = true
        rig.advance(to: 89)
        #expect(waiting(rig) == 1)
        rig.advance(to: 91)
        #expect(waiting(rig) == 0)
    }

    @Test func `a card does not lapse by a clock that was wrong after a reboot`() {
        var rig = Rig.running(until: 60)
        // The machine was off for seconds, and begins with a clock that is nine hours ahead.
        var recovery = rig.recovery()
        recovery.lead = .hours(9)
        recovery.leads.note(.zero, at: Rig.epoch)
        #expect(rig.recover(recovery) == [])
        rig.advance(to: 120)
        rig.step(.clock(lead: .zero))
        rig.update(lap: 1, until: 180)
        #expect(rig.line().hasSuffix(#"{"lap":1}"#))
    }

    @Test func `an old card ends when another of its name is started after a restore`() {
        var rig = Rig.phone()
        var backup = rig.recovery()
        rig.command(.start, Self.start)
        rig.token("activity:cat", "bb")
        rig.advance(to: 10)
        backup.restoredAt = rig.now
        rig.recover(backup, stores: true)
        rig.command(.start, Self.start)
        rig.token("activity:cat", "cc")
        rig.advance(to: 20)
        // The app tells its tokens again: the old card is still there.
        rig.token("activity:cat", "bb")
        rig.advance(to: 60)
        let ended = rig.pushes.map(\.push).filter { $0.event == .end }.map(\.token)
        withKnownIssue("the old card has the new one's name") { #expect(ended == ["bb"]) }
    }

    @Test func `a phone that comes back under its name gets a card with another name`() {
        var rig = Rig.phone()
        rig.command(.start, Self.start)
        rig.token("activity:cat", "bb")
        rig.advance(to: 10)
        rig.deleteToken("activity:cat", "bb")
        rig.tell(.delete)
        // Another start token: nothing says that it is the same phone.
        rig.device()
        rig.token("start:Runner", "ac")
        rig.advance(to: 30)
        rig.token("activity:cat~1.1", "cc")
        // It is the same phone, and still shows the first card.
        rig.token("activity:cat", "bb")
        rig.advance(to: 60)
        let pushes = rig.pushes.map(\.push)
        #expect(pushes.filter { $0.event == .start }.count == 2)
        #expect(pushes.filter { $0.event == .end }.map(\.token) == ["bb"])
    }

    @Test func `a phone whose old token comes back after its card ended there gets a new card`() {
        var rig = Rig.phone()
        rig.command(.start, Self.start)
        rig.token("activity:cat", "bb")
        rig.advance(to: 10)
        let token = rig.pushes.first?.push.token ?? ""
        rig.deleteToken("start:Runner", token)
        rig.tell(.delete)
        rig.advance(to: 20)
        rig.device()
        rig.token("start:Runner", token)
        rig.advance(to: 60)
        #expect(rig.pushes.map(\.push.event) == [.start, .end, .start])
    }

    @Test func `a start waits no less because the clock was set back between two relays`() {
        var rig = Rig()
        rig.step(.clock(lead: .hours(1)))
        rig.device()
        rig.command(.start, Self.start)
        rig.advance(to: 240)
        var recovery = rig.recovery()
        recovery.leads.note(.hours(1), at: Rig.epoch)
        recovery.leads.note(.zero, at: rig.now)
        recovery.lead = .zero
        #expect(rig.recover(recovery) == [])
        rig.advance(to: 899)
        #expect(waiting(rig) == 1)
        rig.advance(to: 901)
        #expect(waiting(rig) == 0)
    }

    @Test func `a record says what became of each version, also where two cards had one name`() {
        var rig = Rig.phone()
        let start = Self.start.dropLast() + #","start_wait":"20s"}"#
        rig.command(.start, String(start))
        rig.token("activity:cat", "bb")
        rig.advance(to: 10)
        // The phone comes back without a start token. The start of a new card has waited too long
        // when the app tells the old card, which ends.
        rig.verdict = { _ in nil }
        rig.tell(.delete)
        rig.device()
        rig.advance(to: 32)
        rig.verdict = { _ in .accepted }
        rig.token("activity:cat", "bb")
        rig.update(lap: 1, until: 60)
        let records = rig.facts.compactMap { DeliveryRecord($0) }
            .filter { $0.recipient == .device(Identifier("phone")!) }
        #expect(Set(records.map(\.card)).count == 2)
        let (old, new) = (records.last?.card, records.first { $0.decision == .startWait }?.card)
        let place = DeliveryRecord.fate(of: 2, in: records, at: new)
        #expect(place.flatMap { records[$0].fate(of: 2) } == .startWait)
        #expect(old != new && DeliveryRecord.fate(of: 2, in: records, at: old) == nil)
        #expect(DeliveryRecord.fate(of: 2, in: records) == place)
    }

    @Test func `an end of the first life carries the first life's state`() {
        var rig = Rig()
        rig.command(.start, Self.start)
        rig.command(.end, #"{"state":{"lap":1}}"#)
        rig.command(.start, Self.start.replacing("0", with: "9")) { $0.restart = true }
        // The app began the first life's card itself, and its device comes late.
        rig.device()
        rig.token("activity:cat", "bb")
        rig.advance(to: 30)
        let ends = rig.pushes.map(\.push).filter { $0.event == .end }.map(Rig.state)
        #expect(ends == [#"{"lap":1}"#])
    }

    @Test func `a dead token is given up also where the clock was ahead at its registration`() {
        var rig = Rig()
        rig.step(.clock(lead: .hours(1)))
        rig.runningActivity()
        rig.advance(to: 10)
        rig.step(.clock(lead: .zero))
        rig.verdict = { push in
            push.event == .start
                ? .accepted
                : .refusal(410, "Unregistered", .tokenGone, since: Rig.epoch + .seconds(5))
        }
        rig.update(lap: 1, until: 1_200)
        #expect(rig.view()?.destinations.first?.phase == "unreachable")
    }
}
