import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// A clock that was ahead, and is set right: no card is silent for it (rule 6).
@Suite struct ClockBackTests {
    private func timestamps(_ rig: borrowing Rig) -> [Int64] {
        rig.pushes.compactMap { Rig.aps($0.push)?["timestamp"]?.integer }
    }

    /// A card that took a push by a clock that is ahead; then the clock is right. Answers the time
    /// of the step.
    private func set(_ rig: inout Rig, ahead: Span, restarts: Bool) {
        rig.step(.clock(lead: ahead))
        rig.update(lap: 1, until: 20)
        guard restarts else { return rig.step(.clock(lead: .zero)) }
        var recovery = rig.recovery()
        recovery.before?.endedInOrder = true
        rig.recover(recovery)
    }

    @Test(arguments: [false, true])
    func `a card whose phone took two hours ahead goes on from there at once`(
        restarts: Bool
    ) throws {
        var rig = Rig.running(until: 10)
        set(&rig, ahead: .hours(2), restarts: restarts)
        let last = try #require(timestamps(rig).last)
        #expect(last >= Rig.epoch.seconds + 7_200)
        for lap in 2...3 {
            let before = rig.pushes.count
            rig.command(.update, "{\"state\":{\"lap\":\(lap)}}")
            rig.advance(to: (rig.now - Rig.epoch).seconds + 20)
            #expect(rig.pushes.count == before + 1)
        }
        #expect(Array(timestamps(rig).suffix(2)) == [last + 1, last + 2])
        let stale = rig.pushes.last.flatMap { Rig.aps($0.push)?["stale-date"]?.integer }
        #expect((stale ?? 0) < Rig.epoch.seconds + 9 * 3_600, "it goes by the clock")
    }

    @Test(arguments: [false, true])
    func `a push that phones dropped for its timestamp sets no limit, and one that they took does`(
        restarts: Bool
    ) throws {
        var rig = Rig.running(until: 10)
        rig.step(.clock(lead: .hours(2)))
        rig.update(lap: 7)
        let taken = try #require(timestamps(rig).last)
        rig.advance(to: 12)
        set(&rig, ahead: .hours(24 * 400), restarts: restarts)
        #expect(try #require(timestamps(rig).last) > taken + 24 * 3_600)
        rig.update(lap: 2, until: 60)
        // The state of then went once more before.
        #expect(timestamps(rig).last == taken + 2)
    }

    @Test(arguments: [false, true])
    func `a kill is answered by the last reading and its reach, an orderly stop by nothing`(
        inOrder: Bool
    ) throws {
        var rig = Rig.running(until: 10)
        let known = try #require(timestamps(rig).last)
        var recovery = rig.recovery()
        recovery.before = .init(
            reading: rig.now, toldThrough: rig.now + RelayClock.reach,
            steadyThrough: rig.now + RelayClock.reach, endedInOrder: inOrder)
        rig.recover(recovery)
        rig.update(lap: 1, until: 12)
        let expected = inOrder ? known + 10 : rig.now.seconds - 2 + 30 + 3
        #expect(try #require(timestamps(rig).last) - expected <= 1)
        #expect(try #require(timestamps(rig).last) >= expected)
    }

    /// A phone drops an update that is a minute old.
    @Test(arguments: [false, true])
    func `what went by a clock that was behind goes once more when it is right`(
        restarts: Bool
    ) throws {
        var rig = Rig.running(until: 10)
        rig.step(.clock(lead: .minutes(-10)))
        rig.advance(to: 200)
        rig.update(lap: 1, until: 220)
        let before = rig.pushes.count
        if restarts {
            var recovery = rig.recovery()
            recovery.before?.wasBehind = true
            rig.recover(recovery)
        } else {
            rig.step(.clock(lead: .zero))
        }
        rig.advance(to: 240)
        let again = try #require(rig.pushes.dropFirst(before).last?.push)
        #expect(Rig.state(again) == #"{"lap":1}"#)
        #expect(timestamps(rig).last.map { $0 >= Rig.epoch.seconds + 220 } == true)
    }

    @Test func `an attempt that Apple refused gives its timestamp back`() throws {
        var rig = Rig.running(until: 10)
        rig.answerFirst(with: .refusal(503, "ServiceUnavailable", .upstream))
        rig.step(.clock(lead: .hours(2)))
        rig.update(lap: 1)
        rig.step(.clock(lead: .zero))
        rig.advance(to: 100)
        let last = try #require(timestamps(rig).last)
        #expect(last < Rig.epoch.seconds + 101, "\(timestamps(rig))")
    }

    @Test func `a clip goes on where it is when the clock is set back`() throws {
        var rig = Rig.running(.lab, until: 10)
        rig.step(.clock(lead: .hours(2)))
        rig.command(.play, #"{"flipbook":{"path":"/lap","frames":[5,6,7],"every":"1s"}}"#)
        rig.advance(to: 20)
        rig.step(.clock(lead: .zero))
        let before = rig.pushes.count
        rig.advance(to: 30)
        #expect(rig.pushes.count >= before + 9, "\(rig.pushes.count - before) frames in 10 s")
    }
}
