import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// A producer that says nothing any more leaves no card behind.
@Suite struct EndAfterTests {
    private static func start(_ more: String) -> String {
        #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0}\#(more)}"#
    }

    private static func running(
        _ more: String = #","end_after":"10m""#, until seconds: Double? = nil
    ) -> Rig {
        var rig = Rig.phone(.lab)
        rig.command(.start, start(more))
        rig.token("activity:cat", "bb")
        if let seconds { rig.advance(to: seconds) }
        return rig
    }

    private static func ends(_ rig: borrowing Rig) -> [NewFact] {
        rig.facts.filter { $0.kind == "activity.ended" }
    }

    @Test func `it ends so long after the last event`() {
        var rig = Self.running(until: 300)
        rig.update(lap: 1, until: 899)
        #expect(rig.view()?.status == .active)
        rig.advance(to: 901)
        #expect(rig.view()?.status == .ended)
        #expect(rig.pushes.last?.push.event == .end)
        #expect(Self.ends(rig).count == 1)
        rig.advance(to: 4_000)
        #expect(Self.ends(rig).count == 1)
    }

    @Test func `the start's own word goes before its type's`() {
        var rig = Rig()
        rig.type(#"{"end_after":"1m"}"#)
        rig.device("phone", .lab)
        rig.token("start:Runner", "aa")
        rig.command(.start, Self.start(""))
        rig.command(.start, Self.start(#","end_after":"2m""#), id: "dog")
        rig.advance(to: 61)
        #expect(rig.view()?.status == .ended)
        #expect(rig.view("dog")?.status != .ended)
        rig.advance(to: 121)
        #expect(rig.view("dog")?.status == .ended)
    }

    @Test func `without it no activity ends by itself, and an ended one does not end again`() {
        var silent = Self.running("")
        silent.advance(to: 20_000)
        #expect(silent.view()?.status == .active)
        var over = Self.running()
        over.command(.end, "{}")
        over.advance(to: 2_000)
        #expect(Self.ends(over).isEmpty)
        #expect(over.view()?.version == 2)
    }

    @Test func `a restart of the relay neither loses it nor starts it again`() {
        var rig = Self.running(until: 300)
        _ = rig.crash(recoverAt: 310)
        rig.advance(to: 599)
        #expect(rig.view()?.status == .active)
        rig.advance(to: 601)
        #expect(rig.view()?.status == .ended)
        #expect(Self.ends(rig).count == 1)
    }

    @Test func `a clock that is set leaves it alone`() {
        var rig = Self.running(until: 100)
        rig.step(.clock(lead: .hours(3)))
        rig.advance(to: 599)
        #expect(rig.view()?.status == .active)
        rig.advance(to: 601)
        #expect(rig.view()?.status == .ended)
    }

    @Test func `a new life has its own`() {
        var rig = Self.running(until: 601)
        #expect(rig.view()?.status == .ended)
        rig.command(.start, Self.start("")) { $0.restart = true }
        rig.advance(to: 5_000)
        #expect(rig.view()?.status != .ended)
    }

    @Test func `while the disk is full it waits`() {
        var rig = Self.running(until: 500)
        rig.step(.room(false))
        rig.advance(to: 700)
        #expect(rig.view()?.status == .active)
        rig.step(.room(true))
        rig.advance(to: 800)
        #expect(rig.view()?.status == .ended)
    }
}
