import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// What comes and goes for ever takes no more places than there is of it at one time; and all
/// together there is so much of it.
@Suite struct PlacesTests {
    @Test func `a device that comes and goes takes one place`() {
        var rig = Rig()
        for life in 0..<50 {
            rig.device("phone\(life % 7)", user: "ann")
            rig.token("widget", "aabb", "phone\(life % 7)")
            rig.reload(#"{"user":"ann"}"#)
            if life.isMultiple(of: 3) { rig.advance(to: Double(life)) }
            rig.tell(.delete, "phone\(life % 7)")
        }
        #expect(rig.core.places.devices == 1)
        #expect(rig.core.places.surfaces == 1)
        // What waits in the log's queue goes first.
        rig.commitsByItself = false
        rig.device("phone")
        rig.token("widget", "aabb", "phone")
        rig.reload(#"{"device":"phone"}"#)
        while rig.commit() {}
        rig.step(.tick)
        rig.tell(.delete, "phone")
        rig.device("other")
        rig.token("widget", "ccdd", "other")
        rig.reload(#"{"device":"other"}"#)
        while rig.commit() {}
        rig.commitsByItself = true
        let before = rig.pushes.count
        rig.advance(to: 100)
        #expect(rig.pushes.dropFirst(before).allSatisfy { $0.push.token == "ccdd" })
        #expect(rig.core.places.devices == 1)
    }

    @Test func `a device in another's place begins with its own budget and cards`() {
        var rig = Rig.running()
        rig.presence(.active)
        rig.tell(.delete)
        rig.device("tablet")
        rig.token("start:Runner", "cc", "tablet")
        rig.command(
            .start, #"{"type":"Runner","audience":{"device":"tablet"},"state":{"lap":1}}"#,
            id: "dog")
        rig.advance(to: 5)
        #expect(rig.core.places.devices == 1)
        #expect(rig.pushes.last?.push.token == "cc")
        #expect(rig.pushes.last?.push.event == .start)
        #expect(rig.view("cat")?.destinations.isEmpty == true)
    }

    @Test func `a relay and a tenant have so many devices`() {
        for limit in ["devices", "devices_per_tenant"] {
            var rig = BoundsTests.rig {
                if limit == "devices" { $0.devicesMax = 2 } else { $0.devicesPerTenantMax = 2 }
            }
            for device in ["a", "b"] { rig.device(device) }
            let records = rig.stored.count
            rig.device("c")
            #expect(BoundsTests.limit(rig) == limit)
            #expect(rig.stored.count == records)
            rig.device("a", user: "ann")
            #expect(BoundsTests.limit(rig) == nil)
            #expect(rig.crash(recoverAt: 5).isEmpty)
            rig.device("c")
            #expect(BoundsTests.limit(rig) == limit)
            rig.tell(.delete, "b")
            rig.device("c")
            #expect(BoundsTests.limit(rig) == nil)
        }
    }

    @Test func `a relay and a tenant have so many running activities`() throws {
        let start = BoundsTests.start(#"{"user":"ann"}"#)
        for limit in ["activities", "activities_per_tenant"] {
            var rig = BoundsTests.rig {
                if limit == "activities" { $0.runningMax = 2 } else { $0.runningPerTenantMax = 2 }
            }
            for id in ["a", "b"] { rig.command(.start, start, id: id) }
            rig.command(.start, start, id: "c")
            #expect(BoundsTests.limit(rig) == limit)
            rig.command(.end, "{}", id: "a")
            rig.command(.start, start, id: "c")
            #expect(rig.lastAccepted != nil)
            rig.command(.start, start, id: "a") { $0.restart = true }
            #expect(BoundsTests.limit(rig) == limit)
            // An end that is taken back leaves no room.
            let batch = try ["b", "nobody"].map { try Command(.end, "{}", id: $0) }
            rig.step(.atomic(batch, Ticket(1)))
            rig.command(.start, start, id: "d")
            #expect(BoundsTests.limit(rig) == limit)
            #expect(rig.crash(recoverAt: 5).isEmpty)
            rig.command(.start, start, id: "d")
            #expect(BoundsTests.limit(rig) == limit)
        }
    }

    @Test func `beyond a limit ended activities leave memory early`() {
        var rig = BoundsTests.rig { $0.endedMax = 3 }
        for life in 1...6 {
            rig.command(.start, BoundsTests.start(#"{"user":"ann"}"#), id: "cat-\(life)")
            rig.command(.end, "{}", id: "cat-\(life)")
            rig.advance(to: Double(life))
        }
        rig.advance(to: 60)
        let known = (1...6).filter { rig.view("cat-\($0)") != nil }
        #expect(known == [4, 5, 6])
    }

    @Test func `beyond a number of cards that are over ended activities leave memory early`() {
        var rig = BoundsTests.rig {
            $0.overMax = 4
            $0.overPerDeviceMax = 100
        }
        for device in ["phone", "tablet"] { rig.device(device, user: "ann") }
        for life in 1...6 {
            rig.command(.start, BoundsTests.start(#"{"user":"ann"}"#), id: "cat-\(life)")
            rig.command(.end, "{}", id: "cat-\(life)")
            rig.advance(to: Double(life))
        }
        rig.advance(to: 60)
        #expect((1...6).filter { rig.view("cat-\($0)") != nil } == [5, 6])
        #expect(rig.core.sizes.destinations == 4)
        #expect(rig.crash(recoverAt: 61).isEmpty)
        #expect(rig.core.sizes.destinations == 4)
    }

    @Test func `cards that are over leave a device early, and those that wait for a token stay`() {
        var rig = BoundsTests.rig { $0.overPerDeviceMax = 2 }
        rig.device("phone", user: "ann")
        for life in 1...6 {
            // The app of the second may have begun its card, and tell its token later.
            let audience = #"{"user":"ann"\#(life == 2 ? #","start":"adopt""# : "")}"#
            rig.command(.start, BoundsTests.start(audience), id: "cat-\(life)")
            rig.command(.end, "{}", id: "cat-\(life)")
        }
        rig.command(.start, BoundsTests.start(#"{"user":"ann"}"#), id: "dog")
        rig.advance(to: 1)
        #expect((1...6).filter { rig.view("cat-\($0)") != nil } == [2, 6])
        rig.advance(to: 60)
        rig.token("activity:cat-2", "aa22", "phone")
        rig.advance(to: 61)
        #expect(rig.pushes.last?.push.token == "aa22", "its end goes there")
    }

    @Test func `what is crowded goes on leaving, however many inputs a turn has`() {
        var rig = BoundsTests.rig {
            $0.overMax = 10
            $0.overPerDeviceMax = 100_000
            $0.runningPerRecipientMax = .max
            $0.cardsPerDeviceMax = 100_000
        }
        rig.device("phone", user: "ann")
        for life in 1...2_000 {
            rig.command(.start, BoundsTests.start(#"{"user":"ann"}"#), id: "cat-\(life)")
        }
        for life in 1...2_000 { rig.command(.end, "{}", id: "cat-\(life)") }
        for _ in 0..<10 {
            var effects = Effects()
            // One turn has one budget for all of its inputs.
            for _ in 0..<20 { rig.core.step(.tick, now: rig.now, effects: &effects) }
            while rig.commit() {}
            rig.now = rig.now + .milliseconds(1)
        }
        #expect(rig.core.sizes.destinations <= 10)
    }

    @Test func `cards that cannot leave cost little, however many there are`() {
        var rig = BoundsTests.rig { $0.overMax = 2 }
        for device in ["phone", "tablet"] { rig.device(device, user: "ann") }
        for life in 1...40 {
            rig.command(
                .start, BoundsTests.start(#"{"user":"ann","start":"adopt"}"#), id: "cat-\(life)")
            rig.command(.end, "{}", id: "cat-\(life)")
        }
        var wakes = 0
        while let wake = rig.core.nextWake, wake <= Rig.epoch + .seconds(100), wakes < 1_000 {
            rig.now = max(rig.now, wake)
            var effects = Effects()
            rig.core.step(.tick, now: rig.now, effects: &effects)
            while rig.commit() {}
            wakes += 1
        }
        #expect(wakes < 50)
        #expect(rig.view("cat-1") != nil)
    }

    @Test func `all cards are counted, and names of devices that are not registered`() {
        var rig = BoundsTests.rig { $0.cardsMax = 3 }
        rig.device("phone")
        let start = BoundsTests.start(#"{"devices":["phone","tablet"]}"#)
        rig.command(.start, start, id: "a")
        rig.command(.start, start, id: "b")
        #expect(BoundsTests.limit(rig) == "cards")
        rig.command(.end, "{}", id: "a")
        rig.advance(to: 86_400 + 600)
        rig.command(.start, start, id: "b")
        #expect(rig.lastAccepted != nil)
        rig.device("tablet")
        rig.tell(.delete, "phone")
        rig.command(.start, start, id: "c")
        #expect(BoundsTests.limit(rig) == "cards")
    }

    @Test func `all can be paused, however many pauses of a part there are`() {
        var rig = Rig()
        for type in 0..<100 { _ = rig.pause(#"{"type":"Runner\#(type)"}"#) }
        _ = rig.pause(#"{"type":"Runner"}"#)
        #expect(rig.lastRefusal == .limitReached)
        let before = rig.core.pauses(of: Rig.tenant).count
        _ = rig.pause(#"{"all":true}"#)
        #expect(rig.core.pauses(of: Rig.tenant).count == before + 1)
        _ = rig.pause(#"{"all":true}"#)
        #expect(rig.core.pauses(of: Rig.tenant).count == before + 1)
    }

    @Test func `an id cannot be a path segment`() {
        for text in [".", ".."] { #expect(Identifier(text) == nil) }
        for text in ["...", ".a", "a."] { #expect(Identifier(text) != nil) }
    }

    @Test func `a tenant has so many pauses`() {
        var rig = Rig()
        for _ in 0..<100 { _ = rig.pause(#"{"all":true}"#) }
        #expect(rig.lastRefusal == nil)
        _ = rig.pause(#"{"all":true}"#)
        #expect(rig.lastRefusal == .limitReached)
    }
}
