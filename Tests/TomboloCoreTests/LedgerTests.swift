import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// Decisions as data: every event ends in exactly one at each destination, and they add up.
@Suite struct LedgerTests {
    private static func counts(_ rig: borrowing Rig, _ id: String = "cat") -> EventCounts {
        rig.ledgers(id)[0].ledger.counts
    }

    @Test func `a burst is sent, merged, sent, and nothing waits at its end`() {
        var rig = Rig.running(.frequent, until: 10)
        rig.laps(1...20, .high) { 10 + Double($0) * 0.07 }
        let view = rig.ledgers()[0]
        #expect(view.ledger.waiting(at: view.version) > 0)
        #expect(view.waiting?.reason == "spacing")
        rig.advance(to: 60)
        // The start, then 1, 15 and 20 as the pacing rules' own test has it.
        #expect(Self.counts(rig) == EventCounts(sent: 4, merged: 17))
        #expect(rig.ledgers()[0].ledger.waiting(at: 21) == 0)
    }

    @Test func `unchanged, superseded and refused have their names`() {
        var rig = Rig.running(until: 20)
        rig.command(.update, #"{"state":{"lap":1},"state_version":5}"#)
        rig.advance(to: 40)
        rig.update(lap: 1, until: 60)
        rig.command(.update, #"{"state":{"lap":9},"state_version":4}"#)
        #expect(rig.lastAccepted?.decision == .skipped(.superseded))
        rig.advance(to: 80)
        #expect(rig.facts.compactMap { DeliveryRecord($0) }.last?.decision == .superseded)
        rig.verdict = { _ in .refusal(400, "BadCollapseId", .push) }
        rig.update(lap: 2, until: 200)
        #expect(Self.counts(rig) == EventCounts(sent: 2, unchanged: 1, superseded: 1, refused: 1))
    }

    @Test func `a start and its end annihilate each other, and the end of the road has no route`() {
        var rig = Rig()
        rig.device()
        rig.start()
        rig.update(lap: 1)
        rig.command(.end, "{}")
        #expect(Self.counts(rig) == EventCounts(annihilated: 3))
        var gone = Rig.running(until: 5)
        gone.tell(
            .report(
                ActivityReference(id: Identifier("cat")!, incarnation: 1), Self.dismissed))
        gone.command(.update, #"{"state":{"lap":1}}"#)
        gone.command(.end, "{}")
        #expect(Self.counts(gone) == EventCounts(sent: 1, noRoute: 2))
    }

    @Test func `a card that is gone has one line, however many versions are still to come`() {
        var rig = Rig.running(until: 5)
        rig.tell(
            .report(
                ActivityReference(id: Identifier("cat")!, incarnation: 1), Self.dismissed))
        for lap in 1...40 {
            rig.update(lap: lap, until: 5 + Double(lap))
        }
        let records = rig.facts.compactMap { DeliveryRecord($0) }
        #expect(records.count { $0.decision == .noRoute } == 1)
        #expect(Self.counts(rig) == EventCounts(sent: 1, noRoute: 40))
        for version in 2...41 as ClosedRange<Int64> {
            let place = DeliveryRecord.fate(of: version, in: records)
            #expect(place.flatMap { records[$0].fate(of: version) } == .noRoute, "\(version)")
        }
        #expect(DeliveryRecord.fate(of: 1, in: records) == 0)
        // What a relay had noted before it was killed, the next one notes once more.
        _ = rig.crash(recoverAt: 60)
        for lap in 50...60 { rig.command(.update, #"{"state":{"lap":\#(lap)}}"#) }
        rig.advance(to: 80)
        let all = rig.facts.compactMap { DeliveryRecord($0) }
        #expect(all.count { $0.decision == .noRoute } == 2)
    }

    private static let dismissed: PhoneReport = {
        // A test's own text: if it cannot be read, the test is wrong.
        guard let report = try? PhoneReport(reading: Rig.json(#"{"phase":"dismissed"}"#)) else {
            preconditionFailure("a test's own text")  // it is read here, above
        }
        return report
    }()

    @Test func `a device that comes later answers for what it was asked`() {
        var rig = Rig()
        rig.device("one", .standard, user: "ann")
        rig.token("activity:cat", "aa11", "one")
        rig.command(.start, #"{"type":"Runner","audience":{"user":"ann"},"state":{"lap":0}}"#)
        rig.advance(to: 20)
        rig.update(lap: 1, until: 40)
        rig.device("two", .standard, user: "ann")
        rig.token("activity:cat", "bb22", "two")
        rig.advance(to: 60)
        let ledgers = rig.ledgers().map(\.ledger)
        #expect(ledgers.map(\.since) == [1, 2])
        #expect(ledgers.map(\.counts.decided) == [2, 1])
    }

    @Test func `the books survive a crash and still add up`() {
        var rig = Rig.running()
        rig.laps(1...6) { Double($0) * 7 }
        rig.advance(to: 100)
        let before = Self.counts(rig)
        #expect(before.decided == 7)
        _ = rig.crash(recoverAt: 110)
        rig.advance(to: 200)
        #expect(Self.counts(rig) == before)
    }

    @Test func `each decision is on record, with its versions, its push and what held it`() {
        var rig = Rig.running(.frequent, until: 10)
        rig.laps(1...3, .high) { 10 + Double($0) * 0.1 }
        rig.advance(to: 60)
        let records = rig.facts.compactMap { DeliveryRecord($0) }
        #expect(records.map(\.decided) == [1...1, 2...2, 3...4])
        #expect(records.allSatisfy { $0.decision == .sent && $0.attempt?.answer == .accepted })
        #expect(records.last?.decision(of: 3) == .merged)
        #expect(records.last?.held.map(\.reason) == [.spacing])
        #expect(records.last.map { $0.waited > .milliseconds(100) } == true)
        #expect(records.first?.attempt?.event == .start)
    }

    @Test func `frames are counted by the second, and the seconds add up`() {
        var rig = Rig.running(.lab, until: 1)
        rig.command(.play, ClipTests.clip)
        rig.advance(to: 5.95)
        let view = rig.ledgers()[0]
        #expect(view.seconds.map(\.counts.sent) == [9, 10, 10, 10, 10])
        #expect(view.seconds.map(\.counts.asked).reduce(0, +) == view.frames.asked)
    }
}
