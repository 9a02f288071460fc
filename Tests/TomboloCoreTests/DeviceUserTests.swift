import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// A device that changes its user: the cards of the one before end there without content, and those
/// of the new one start (pacing rule 5).
@Suite struct DeviceUserTests {
    static func start(_ user: String, _ fields: String = "") -> String {
        #"{"type":"Runner","audience":{"user":"\#(user)"},"state":{"of":"\#(user)","lap":0},"#
            + #""alert":{"title":"\#(user)"}\#(fields)}"#
    }

    /// A phone of u1 that shows its card `cat`.
    static func running(_ fields: String = "", until seconds: Double? = nil) -> Rig {
        var rig = Rig.phone(user: "u1")
        rig.command(.start, start("u1", fields))
        rig.token("activity:cat", "bb")
        if let seconds { rig.advance(to: seconds) }
        return rig
    }

    /// What went since `place`, and where to.
    static func events(_ rig: borrowing Rig, from place: Int) -> [String] {
        rig.pushes.dropFirst(place).map { "\($0.push.event) \($0.push.token)" }
    }

    static func hasLeaked(_ rig: borrowing Rig, from place: Int, _ user: String) -> Bool {
        rig.pushes.dropFirst(place).contains {
            String(decoding: $0.push.payload, as: UTF8.self).contains(user)
        }
    }

    @Test func `the old user's card ends without content, and the new user's starts`() throws {
        var rig = Self.running()
        rig.command(.start, Self.start("u2"), id: "dog")
        rig.advance(to: 30)
        let before = rig.pushes.count
        rig.device("phone", user: "u2")
        #expect(Self.events(rig, from: before) == ["start aa", "end bb"])
        let end = try #require(rig.pushes.last?.push)
        #expect(Rig.aps(end)?.members.map(\.name) == ["timestamp", "event", "dismissal-date"])
        let start = rig.pushes[before].push
        #expect(Rig.aps(start)?["content-state"]?["of"]?.string == "u2")

        rig.command(.update, #"{"state":{"lap":1},"alert":{"title":"u1"}}"#)
        rig.advance(to: 3_600)
        rig.command(.end, #"{"state":{"lap":2}}"#)
        rig.advance(to: 20_000)
        #expect(Self.hasLeaked(rig, from: before, "u1") == false)
        #expect(Self.events(rig, from: before).filter { $0 == "start aa" }.count == 1)
    }

    @Test func `an end that a phone missed while it was offline comes again`() {
        var rig = Self.running(until: 30)
        rig.update(lap: 1, .high, until: 40)
        // The phone has shown the newest state: nothing more of it is due.
        rig.report("cat", #"{"phase":"active","shown_version":2}"#)
        let before = rig.pushes.count
        rig.device("phone", user: "u2")
        #expect(Self.events(rig, from: before) == ["end bb"])
        rig.advance(to: 3_600)
        #expect(Self.events(rig, from: before) == ["end bb", "end bb"], "ten minutes later")
        rig.presence(.active)
        rig.advance(to: 3_700)
        #expect(Self.events(rig, from: before).count == 3, "it is back")
    }

    @Test func `a change of a device's user is on record, without a name`() {
        var rig = Self.running()
        rig.device("phone", user: "u1")
        #expect(!rig.facts.contains { $0.kind == "device.user_changed" }, "it is the same user")
        rig.device("phone", user: "u2")
        rig.advance(to: 30)
        let facts = rig.facts.filter { $0.kind == "device.user_changed" }
        #expect(facts.count == 1)
        #expect(!facts.contains { String(decoding: $0.body, as: UTF8.self).contains("u2") })
    }

    @Test func `a device that loses its user loses the cards`() {
        var rig = Self.running(until: 30)
        let before = rig.pushes.count
        rig.device("phone")
        rig.update(lap: 1, until: 60)
        #expect(rig.line(from: before) == "30:E10?")
    }

    @Test func `a device that registers again with its user keeps the cards`() {
        var rig = Self.running(until: 30)
        let before = rig.pushes.count
        rig.device("phone", user: "u1")
        rig.update(lap: 1, until: 60)
        #expect(rig.pushes.dropFirst(before).map(\.push.event) == [.update, .update])
        #expect(rig.line().hasSuffix(#"31:U10{"of":"u1","lap":1}"#))
    }

    @Test func `a card that names the device stays whatever its user`() {
        var rig = Rig.running(user: "u1", until: 30)
        let before = rig.pushes.count
        rig.device("phone", user: "u2")
        rig.update(lap: 1, until: 60)
        #expect(rig.pushes.dropFirst(before).map(\.push.event) == [.update, .update])
        #expect(rig.line().hasSuffix(#"31:U10{"lap":1}"#))
    }

    @Test func `a start that waits goes to nobody, and one that went ends when its token comes`() {
        var rig = Rig()
        rig.device("phone", user: "u1")
        rig.command(.start, Self.start("u1"))
        rig.device("phone", user: "u2")
        rig.token("start:Runner", "aa")
        rig.advance(to: 60)
        #expect(rig.pushes.isEmpty)

        rig.device("phone", user: "u1")
        #expect(Self.events(rig, from: 0) == ["start aa"])
        rig.device("phone", user: "u2")
        rig.update(lap: 1, until: 120)
        #expect(Self.events(rig, from: 0) == ["start aa"])
        rig.token("activity:cat~1.1", "bb")
        rig.advance(to: 180)
        #expect(rig.line(from: 1) == "120:E10?")
    }

    @Test func `an end that is still on its way to the old user's card goes without content`() {
        var rig = Rig.phone(user: "u1")
        rig.command(.start, Self.start("u1"))
        rig.command(.end, #"{"state":{"lap":9}}"#)
        let before = rig.pushes.count
        rig.device("phone", user: "u2")
        rig.token("activity:cat", "bb")
        rig.advance(to: 5_000)
        #expect(rig.pushes.count > before)
        #expect(Self.hasLeaked(rig, from: before, "u1") == false)
    }

    @Test func `the end of an earlier life of the activity tells the new user nothing`() {
        var rig = Self.running(until: 30)
        rig.command(.end, #"{"state":{"lap":9}}"#)
        rig.command(
            .start, #"{"type":"Runner","audience":{"device":"other"},"state":{"lap":0}}"#
        ) { $0.restart = true }
        rig.advance(to: 40)
        let before = rig.pushes.count
        rig.device("phone", user: "u2")
        rig.advance(to: 5_000)
        #expect(rig.pushes.count > before, "the end goes once more")
        #expect(Self.hasLeaked(rig, from: before, "u1") == false)
    }

    @Test func `a user who comes back gets a new card`() throws {
        var rig = Self.running(until: 30)
        rig.device("phone", user: "u2")
        rig.update(lap: 1, until: 60)
        let before = rig.pushes.count
        rig.device("phone", user: "u1")
        rig.advance(to: 61)
        let start = try #require(
            rig.pushes.dropFirst(before).map(\.push).filter { $0.event == .start }.first)
        #expect(Rig.aps(start)?["attributes"]?["activity_id"]?.string == "cat~1.1")
        rig.token("activity:cat~1.1", "cc")
        rig.update(lap: 2, until: 120)
        let updates = rig.pushes.dropFirst(before).map(\.push).filter { $0.event == .update }
        #expect(updates.last?.token == "cc")
        #expect(updates.allSatisfy { $0.token == "cc" })
        #expect(rig.view()?.destinations.last?.phase == "live")
        #expect(rig.view()?.destinations.last?.waiting == nil)
    }

    @Test func `a user who comes back after the device has gone and come back gets a new card`()
        throws
    {
        var rig = Self.running(until: 30)
        rig.device("phone", user: "u2")
        rig.tell(.delete)
        rig.device("phone", user: "u2")
        rig.token("start:Runner", "aa")
        rig.token("activity:cat", "cc")
        rig.advance(to: 60)
        let before = rig.pushes.count
        rig.device("phone", user: "u1")
        rig.update(lap: 1, until: 120)
        // The end of the card from before may go once more.
        #expect(Self.events(rig, from: before).filter { $0 != "end cc" } == ["start aa"])
        let start = try #require(
            rig.pushes.dropFirst(before).first { $0.push.event == .start }?.push)
        #expect(Rig.aps(start)?["attributes"]?["activity_id"]?.string == "cat~1.1")
    }

    /// Found by the simulation: the newest card hid the one before it.
    @Test func `a late token ends the card of before, whatever card its user has since`() throws {
        var rig = Rig.phone(user: "u1")
        rig.command(.start, Self.start("u1"))
        rig.advance(to: 30)
        rig.device("phone", user: "u2")
        rig.device("phone", user: "u1")
        rig.advance(to: 60)
        rig.token("activity:cat~1.1", "cc")
        rig.tell(.delete)
        rig.device("phone", user: "u1")
        rig.token("start:Runner", "aa")
        rig.token("activity:cat~1.1", "cc")
        rig.advance(to: 90)
        let before = rig.pushes.count
        rig.token("activity:cat", "bb")
        let end = try #require(rig.pushes.dropFirst(before).map(\.push).first { $0.token == "bb" })
        #expect(end.event == .end)
        #expect(Rig.aps(end)?["content-state"] == nil)
    }

    @Test func `a device that comes back as another user's loses the card it had`() {
        var rig = Self.running(until: 30)
        let before = rig.pushes.count
        rig.tell(.delete)
        rig.device("phone", user: "u2")
        rig.token("start:Runner", "aa")
        rig.token("activity:cat", "cc")
        rig.advance(to: 60)
        // Its token may have changed since it heard of its end.
        #expect(Self.events(rig, from: before) == ["end bb", "end cc"])
        #expect(Self.hasLeaked(rig, from: before, "u1") == false)
    }

    @Test(arguments: [false, true])
    func `a crash before or after the change is on record tells the new user nothing`(
        isOnRecord: Bool
    ) {
        var rig = Self.running(until: 30)
        let before = rig.pushes.count
        rig.commitsByItself = false
        rig.device("phone", user: "u2")
        #expect(rig.pushes.count == before, "nothing goes before it is on record")
        rig.commitsByItself = true
        if isOnRecord { rig.commit() }
        #expect(rig.crash(recoverAt: 40) == [])
        rig.device("phone", user: "u2")
        rig.update(lap: 1, until: 100)
        #expect(rig.pushes.dropFirst(before).allSatisfy { $0.push.event == .end })
        #expect(rig.pushes.count > before)
        #expect(Self.hasLeaked(rig, from: before, "u1") == false)
    }
}
