import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// What a card needs for the push of an event is stored with the event.
@Suite struct AheadTests {
    private static let alerting = #"{"state":{"lap":1},"alert":{"title":"Lap"}}"#

    @Test func `a token is on disk before it is spent`() {
        var rig = Rig.running(until: 5)
        rig.commitsByItself = false
        rig.update(lap: 1)
        let isTaken = rig.take()
        #expect(isTaken)
        #expect(rig.pushes.count == 1, "nothing of it is durable")
        rig.commit()
        #expect(rig.line(from: 1) == #"5:U10{"lap":1}"#)
    }

    @Test func `an alert is on disk before it rings, and with its event`() {
        var rig = Rig.running(until: 5)
        rig.commitsByItself = false
        rig.command(.update, Self.alerting)
        rig.commit()
        #expect(rig.pushes.count == 2)
        #expect(rig.lastAccepted?.destinations.deferred == 0, "it waits for nothing")
        _ = rig.crash(recoverAt: 6)
        rig.commitsByItself = true
        rig.advance(to: 60)
        let alerts = rig.pushes.dropFirst().filter { Rig.aps($0.push)?["alert"] != nil }
        #expect(alerts.count == 1)
    }

    @Test func `of two alerts in one batch neither counts as tried before it is`() {
        var rig = Rig.running(until: 5)
        rig.commitsByItself = false
        rig.command(.update, Self.alerting)
        rig.command(.update, #"{"state":{"lap":2},"alert":{"title":"Lap"}}"#)
        rig.commit()
        #expect(rig.pushes.count == 1)
        _ = rig.crash(recoverAt: 6)
        rig.commitsByItself = true
        rig.advance(to: 120)
        let alerts = rig.pushes.dropFirst().filter { Rig.aps($0.push)?["alert"] != nil }
        #expect(alerts.count == 2)
    }

    @Test func `what is lost with its event is not spent`() {
        var rig = Rig.running(until: 5)
        rig.commitsByItself = false
        rig.update(lap: 1)
        let isTaken = rig.take()
        #expect(isTaken)
        _ = rig.crash(recoverAt: 6)
        rig.commitsByItself = true
        rig.update(lap: 1, until: 60)
        #expect(rig.line(from: 1) == #"7:U10{"lap":1}"#)
    }

    @Test func `a card that was paused pays in a batch of its own`() {
        var rig = Rig.running(until: 5)
        let pause = rig.pause(#"{"all":true}"#)
        rig.update(lap: 1)
        rig.commitsByItself = false
        rig.resume(pause)
        for _ in 0..<3 where rig.reason == "paused" { rig.commit() }
        #expect(rig.pushes.count == 1, "the event is durable, its token is not yet")
        #expect(rig.reason == "reserving")
        rig.commit()
        #expect(rig.line(from: 1) == #"5:U10{"lap":1}"#)
    }

    @Test func `a second alert waits for the first`() {
        var rig = Rig.running(until: 5)
        rig.answerFirst(1, with: .notSent(reason: "refused"))
        rig.command(.update, Self.alerting)
        rig.command(.update, #"{"state":{"lap":2},"alert":{"title":"Lap"}}"#)
        rig.advance(to: 120)
        let laps = rig.pushes.dropFirst().map { Rig.state($0.push) }
        #expect(laps.last == #"{"lap":2}"#)
        #expect(laps.first == #"{"lap":1}"#)
    }
}

extension Rig {
    fileprivate var reason: String? { view()?.destinations.first?.waiting?.reason }
}
