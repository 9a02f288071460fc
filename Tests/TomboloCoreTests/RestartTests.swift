import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// What a crash must not take from cards and tokens. Found by the simulation.
@Suite struct RestartTests {
    /// A deleted device's reservation was taken for that of the next one in its place.
    @Test func `a start goes when its own record is durable, whoever had its place before`() {
        var rig = Rig()
        rig.device("d0")
        rig.token("start:Runner", "aa", "d0")
        rig.commitsByItself = false
        rig.command(
            .start, #"{"type":"Runner","audience":{"devices":["d0","d1"]},"state":{"lap":0}}"#)
        rig.commit()
        let isTaken = rig.take()
        #expect(isTaken)
        rig.tell(.delete, "d0")
        rig.device("d1")
        rig.token("start:Runner", "bb", "d1")
        rig.commit()
        #expect(rig.pushes.isEmpty)
        rig.commit()
        #expect(rig.pushes.map(\.push.token) == ["bb"])
    }

    @Test func `a card of an incarnation that a restart left behind gets its end after a crash`() {
        var rig = Rig.running(until: 10)
        rig.verdict = { _ in .notSent(reason: "no connection") }
        rig.command(.end, #"{"state":{"lap":9}}"#)
        rig.start(lap: 100, restart: true)
        let before = rig.pushes.count
        #expect(rig.crash(recoverAt: 20).isEmpty)
        rig.verdict = { _ in .accepted }
        rig.advance(to: 400)
        let old = rig.pushes.dropFirst(before).map(\.push).filter { $0.token == "bb" }
        #expect(!old.isEmpty)
        #expect(old.allSatisfy { $0.event == .end && Rig.state($0) == #"{"lap":9}"# })
    }

    /// Found by ten kills of the real relay: starts that had to take turns were on record as tried.
    @Test(arguments: [0.0, 0.1, 0.26, 0.4, 0.6, 0.8])
    func `a start that waits for its turn at the device is not taken for tried`(crash: Double) {
        var rig = Rig.phone(.standard)
        for id in ["one", "two", "three"] { rig.command(.start, UnknownStartTests.start, id: id) }
        rig.advance(to: crash)
        _ = rig.crash(recoverAt: crash + 1)
        rig.advance(to: 30)
        #expect(rig.pushes.map(\.push.event) == [.start, .start, .start])
        #expect(Set(rig.pushes.map { $0.push.collapseID }).count == 3)
    }

    @Test func `a start that waits for a place in its upstream is not taken for tried`() {
        var rig = Rig()
        rig.core.setCapacityForTests(1)
        for phone in ["phone", "pad", "watch"] {
            rig.device(phone, .standard)
            rig.token("start:Runner", phone == "phone" ? "aa" : phone == "pad" ? "bb" : "cc", phone)
        }
        rig.verdict = { _ in nil }
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"devices":["phone","pad","watch"]},"state":{"lap":0}}"#)
        rig.advance(to: 1)
        #expect(rig.pushes.count == 1)
        _ = rig.crash(recoverAt: 2)
        rig.verdict = { _ in .accepted }
        rig.advance(to: 30)
        #expect(Set(rig.pushes.map(\.push.token)) == ["aa", "bb", "cc"])
        #expect(rig.pushes.count == 3)
    }

    @Test func `a start that is not wanted any more leaves its turn to the next`() {
        var rig = Rig()
        rig.core.setCapacityForTests(1)
        rig.device("phone", .standard)
        rig.token("start:Runner", "aa")
        rig.command(.start, UnknownStartTests.start, id: "other")
        rig.advance(to: 10)
        let before = rig.pushes.count
        rig.commitsByItself = false
        rig.command(.start, UnknownStartTests.start, id: "one")
        rig.command(.start, UnknownStartTests.start, id: "two")
        rig.commit()
        rig.command(.end, "{}", id: "one")
        rig.commitsByItself = true
        rig.advance(to: 60)
        let started = rig.pushes.dropFirst(before).map(\.push.event)
        #expect(started == [.start], "the one that ended was never begun")
        #expect(rig.view("two")?.destinations.first?.phase == "started")
    }

    /// Seed 100 of the simulation.
    @Test func `a stream limit that falls while starts go on record is obeyed`() {
        var rig = Rig()
        for (phone, token) in [("phone", "aa"), ("pad", "bb")] {
            rig.device(phone, .standard)
            rig.token("start:Runner", token, phone)
        }
        rig.verdict = { _ in nil }
        rig.commitsByItself = false
        rig.command(
            .start, #"{"type":"Runner","audience":{"devices":["phone","pad"]},"state":{"lap":0}}"#)
        rig.commit()
        let isOnItsWay = rig.take()
        #expect(isOnItsWay, "both starts go on record")
        rig.step(.capacity(UpstreamNumber(0), 1))
        rig.commitsByItself = true
        rig.step(.tick)
        rig.advance(to: 5)
        #expect(rig.pushes.count == 1)
        if let push = rig.flying.first { rig.answer(push, .accepted) }
        rig.step(.tick)
        #expect(rig.pushes.count == 2)
    }

    @Test func `a token without a time is news also to a clock that was set back`() {
        var rig = Rig.running()
        rig.now = Rig.epoch + .hours(-1)
        rig.token("activity:cat", "cc")
        rig.now = Rig.epoch + .seconds(10)
        rig.update(lap: 1)
        #expect(rig.pushes.last?.push.token == "cc")
    }

    @Test func `a token given back and kept while its bucket fills up is no token more`() {
        var pacing = PacingState()
        let grant = Budgets()[.standard]
        var now = Rig.epoch
        pacing.reserve(grant, now: now)
        now = now + .hours(2)
        var sent = 0
        for _ in 0..<60 {
            now = now + .seconds(1)
            if case .reserve = pacing.turn(.must, grant, now: now, wall: now) {
                pacing.reserve(grant, now: now)
            }
            guard
                case .send(priority: 10, let timestamp) = pacing.turn(
                    .must, grant, now: now, wall: now)
            else { continue }
            _ = pacing.sent(priority: 10, timestamp: timestamp, grant, now: now)
            sent += 1
        }
        #expect(sent == Int(grant.burst))
    }

    @Test func `a reservation on a slow disk is paid for again, and then goes`() {
        var pacing = PacingState()
        let grant = Budgets()[.standard]
        pacing.reserve(grant, now: Rig.epoch)
        let late = Rig.epoch + .seconds(5)
        #expect(pacing.turn(.must, grant, now: late, wall: late) == .reserve)
        pacing.reserve(grant, now: late)
        let later = late + .seconds(20)
        #expect(
            pacing.turn(.must, grant, now: later, wall: later)
                == .send(priority: 10, timestamp: later.seconds))
    }

    @Test func `a start that may have gone leaves the highest timestamp it can have used`() {
        var rig = Rig.phone(.standard)
        rig.verdict = { _ in nil }
        rig.start()
        let used = rig.pushes.last.flatMap { Rig.aps($0.push)?["timestamp"]?.integer } ?? .max
        _ = rig.crash(recoverAt: 0)
        rig.verdict = { _ in .accepted }
        rig.token("activity:cat", "bb")
        rig.update(lap: 1, until: 20)
        let next = rig.pushes.last.flatMap { Rig.aps($0.push)?["timestamp"]?.integer } ?? 0
        #expect(rig.pushes.count == 2)
        #expect(next > used)
    }
}
