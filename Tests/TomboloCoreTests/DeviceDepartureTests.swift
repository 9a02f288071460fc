import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// A device that is deleted ends its cards first.
@Suite struct DeviceDepartureTests {
    private static let key = DeviceKey(tenant: Rig.tenant, id: Identifier("phone")!)

    private static func running() -> Rig {
        CardLifeTests.running("", user: "u42", until: 30)
    }

    private static func ends(_ rig: borrowing Rig) -> [Push] {
        rig.pushes.map(\.push).filter { $0.event == .end }
    }

    /// Devices on record.
    private static func devices(_ rig: borrowing Rig) -> Int {
        rig.recovery().records.count { record in
            record.space == .device
                && String(decoding: record.value ?? [], as: UTF8.self).contains("registration")
        }
    }

    private static func began(_ rig: borrowing Rig) -> Int {
        rig.facts.count { $0.kind == "card.began" }
    }

    @Test func `it is gone at once, its card ends without content, and then nothing is left`() {
        var rig = Self.running()
        rig.tell(.delete)
        #expect(rig.core.deviceView(Self.key, now: rig.now) == nil)
        #expect(rig.lastStored?.endsWaiting == 0)
        rig.advance(to: 40)
        #expect(Self.ends(rig).map(\.token) == ["bb"])
        #expect(Self.ends(rig).allSatisfy { Rig.aps($0)?["content-state"] == nil })
        #expect(rig.view()?.destinations.isEmpty == true)
        #expect(Self.devices(rig) == 0)
        let kept = rig.recovery().records.map(\.space)
        #expect(!kept.contains(.checkpoint), "\(kept)")
    }

    @Test func `an end that a pause holds waits for ten minutes, over a restart too`() {
        for (resumed, ends) in [(500.0, ["bb"]), (700.0, [])] {
            var rig = Self.running()
            let pause = rig.pause(#"{"all":true}"#)
            rig.tell(.delete)
            #expect(rig.lastStored?.endsWaiting == 1)
            rig.advance(to: 60)
            #expect(rig.crash(recoverAt: 70) == [])
            #expect(rig.core.deviceView(Self.key, now: rig.now) == nil)
            rig.advance(to: resumed)
            rig.resume(pause)
            rig.advance(to: 800)
            #expect(Self.ends(rig).map(\.token) == ends)
            #expect(Self.devices(rig) == 0)
            #expect(!rig.recovery().records.contains { $0.space == .checkpoint })
        }
    }

    @Test func `a device of that name is another one, whose card begins once`() {
        var rig = Self.running()
        let pause = rig.pause(#"{"all":true}"#)
        rig.tell(.delete)
        rig.device("phone", user: "u42")
        rig.token("activity:cat", "bb")
        rig.report("cat", #"{"phase":"active"}"#)
        rig.advance(to: 60)
        #expect(Self.began(rig) == 1)
        rig.resume(pause)
        rig.token("start:Runner", "aa")
        rig.advance(to: 700)
        #expect(!Self.ends(rig).isEmpty && Self.ends(rig).allSatisfy { $0.token == "bb" })
        #expect(rig.core.deviceView(Self.key, now: rig.now) != nil)
        #expect(Self.devices(rig) == 1)
        rig.token("activity:cat~1.1", "cc")
        rig.report("cat~1.1", #"{"phase":"active"}"#)
        #expect(Self.began(rig) == 2, "the card that is new")
        #expect(rig.crash(recoverAt: 800) == [])
        #expect(rig.core.deviceView(Self.key, now: rig.now) != nil)
    }

    @Test func `it ends its cards even if the device is back and the relay restarts`() {
        var rig = Self.running()
        let pause = rig.pause(#"{"all":true}"#)
        rig.tell(.delete)
        rig.device("phone", user: "u42")
        rig.advance(to: 60)
        #expect(rig.crash(recoverAt: 70) == [])
        rig.resume(pause)
        rig.advance(to: 100)
        #expect(Self.ends(rig).map(\.token) == ["bb"])
        #expect(Self.devices(rig) == 1)
    }

    @Test func `an erasure does not wait`() {
        var rig = Self.running()
        _ = rig.pause(#"{"all":true}"#)
        rig.tell(.delete)
        rig.step(.erase(.device(Self.key), Ticket(900)))
        #expect(Self.devices(rig) == 0)
        #expect(!rig.recovery().records.contains { $0.space == .device || $0.space == .checkpoint })
    }
}
