import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// What widgets are owed after a change of an activity comes, whenever the relay dies.
@Suite struct OwedReloadTests {
    private static let key = ActivityKey(tenant: Rig.tenant, id: Identifier("door-7")!)

    /// A phone whose widget shows the state of a door, and how many reloads it has had.
    private static func running(
        type: String = #"{"families":{"systemSmall":["/locked"]}}"#,
        from source: String = #""from":{"activity":"door-7"}"#,
        _ configure: (inout CoreConfiguration) -> Void = { _ in }
    ) -> Rig {
        var rig = Rig(configure)
        rig.device("phone", .standard, user: "u42", os: "26.1")
        rig.token("widget", "ee")
        rig.type(type, named: "Door")
        rig.timeline(#"{"subject":{"user":"u42"},\#(source)}"#)
        rig.command(
            .start, #"{"type":"Door","state":{"locked":true},"audience":{"user":"u42"}}"#,
            id: "door-7")
        rig.advance(to: 3_000)
        return rig
    }

    private static func reloads(_ rig: borrowing Rig) -> Int {
        rig.pushes.count { $0.push.surface == .widgets }
    }

    /// What is on record as owed.
    private static func owed(_ rig: borrowing Rig) -> [Record] {
        rig.recovery().records.filter { $0.space == .owedReload }
    }

    private static let unlock = #"{"state":{"locked":false}}"#

    @Test(arguments: [
        (#"{"families":{"systemSmall":["/locked"]}}"#, #""from":{"activity":"door-7"}"#),
        (#"{"reloads":{"widgets":true}}"#, #""content":{}"#),
    ])
    func `killed between the change and each device's wish, it comes`(
        type: String, source: String
    ) {
        var rig = Self.running(type: type, from: source)
        let before = Self.reloads(rig)
        #expect(Self.owed(rig).isEmpty, "what was owed is paid")
        rig.commitsByItself = false
        rig.command(.update, Self.unlock, id: "door-7")
        rig.commit()
        #expect(Self.owed(rig).map(\.number) == [rig.view("door-7")?.number.rawValue])
        #expect(rig.crash(recoverAt: 3_010) == [])
        #expect(Self.reloads(rig) == before)
        rig.commitsByItself = true
        rig.advance(to: 6_000)
        #expect(Self.reloads(rig) == before + 1)
        #expect(Self.owed(rig).isEmpty)
        #expect(rig.crash(recoverAt: 6_010) == [])
        rig.advance(to: 9_000)
        #expect(Self.reloads(rig) == before + 1, "it is owed once")
    }

    @Test func `a change that no widget shows owes nothing`() {
        var rig = Self.running()
        rig.commitsByItself = false
        rig.command(.update, #"{"state":{"code":2}}"#, id: "door-7")
        rig.commit()
        #expect(Self.owed(rig).isEmpty)
    }

    @Test func `an end reloads the widgets, and so does leaving memory, and an erasure`() {
        var rig = Self.running { $0.limits.endedKept = .hours(1) }
        var before = Self.reloads(rig)
        rig.command(.end, "{}", id: "door-7")
        rig.advance(to: 5_000)
        #expect(Self.reloads(rig) == before + 1, "it ends with the state that it had")
        before += 1
        rig.advance(to: 12_000)
        #expect(rig.view("door-7") == nil)
        #expect(Self.reloads(rig) == before + 1, "a lock must not keep its last word")
        var other = Self.running()
        other.command(.end, "{}", id: "door-7")
        other.advance(to: 6_000)
        before = Self.reloads(other)
        other.step(.erase(.activity(Self.key, number: nil), Ticket(900)))
        other.advance(to: 9_000)
        #expect(Self.reloads(other) == before + 1)
        #expect(Self.owed(other).isEmpty)
    }

    @Test func `killed as it leaves memory, the reload comes`() {
        var rig = Self.running { $0.limits.endedKept = .hours(1) }
        rig.command(.end, "{}", id: "door-7")
        rig.advance(to: 6_500)
        let before = Self.reloads(rig)
        rig.commitsByItself = false
        rig.now = Rig.epoch + .seconds(10_000)
        rig.step(.tick)
        rig.now = Rig.epoch + .seconds(10_005)
        rig.commit()
        #expect(rig.view("door-7") == nil)
        #expect(rig.crash(recoverAt: 10_010) == [])
        rig.commitsByItself = true
        rig.advance(to: 12_000)
        #expect(Self.reloads(rig) == before + 1)
    }

    @Test func `a record that cannot be read is said, and set aside`() {
        var rig = Self.running()
        var recovery = rig.recovery()
        recovery.records.append(Record(space: .owedReload, number: 9, value: [1]))
        let damage = rig.recover(recovery)
        #expect(damage == ["the reload that activity number 9 owes cannot be read"])
    }
}
