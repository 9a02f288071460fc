import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// What persons do on phones comes back as facts, in time or not at all.
@Suite struct ActionTests {
    /// Posts an action of so many seconds ago, as the device's own key does.
    static func post(
        _ rig: inout Rig, _ body: String, secondsAgo: Double = 0, key: String? = nil,
        digest: UInt64 = 1, device: String = "phone", by authority: DeviceAuthority = .operate
    ) {
        let at = rig.core.wall(rig.now) - Span(nanoseconds: Int64(secondsAgo * 1e9))
        let text = body.dropLast() + ",\"at\":\"\(at.rfc3339)\"}"
        // A test's own text: if it cannot be read, the test is wrong.
        guard var action = try? DeviceAction(reading: Rig.json(String(text))) else {
            Issue.record("\(text)")
            return
        }
        action.idempotency = key.map { IdempotencyKey(key: $0, bodyDigest: digest) }
        rig.tell(.action(action), device, by: authority)
    }

    private static func actions(_ rig: borrowing Rig) -> [JSONView] {
        rig.facts.filter { $0.kind == DeviceAction.factKind }
            .map { JSON(unchecked: $0.body).document.root }
    }

    private static func taken(_ rig: borrowing Rig) -> Stored.TakenAction? {
        if case .stored(let stored)? = rig.answers.last { stored.action } else { nil }
    }

    private static let tap = #"{"activity":"cat"}"#

    @Test func `a tap is on disk before its phone hears of it`() {
        var rig = Rig.running(.lab, until: 1)
        rig.commitsByItself = false
        let answers = rig.answers.count
        Self.post(&rig, Self.tap)
        #expect(rig.answers.count == answers)
        while rig.commit() {}
        #expect(rig.answers.count == answers + 1)
        #expect(Self.taken(rig)?.id == Self.actions(rig).last?["action"]?.string)
        #expect(Self.actions(rig).last?["card"]?.string == "cat")
        #expect(rig.facts.last { $0.kind == "action" }?.activity == rig.view()?.number)
    }

    @Test(arguments: [(29.9, nil), (30, Refusal.Code.actionExpired), (31, .actionExpired)])
    func `an action counts from the tap`(secondsAgo: Double, refusal: Refusal.Code?) {
        var rig = Rig.running(.lab, until: 60)
        Self.post(&rig, Self.tap, secondsAgo: secondsAgo)
        #expect(rig.lastRefusal == refusal)
        #expect(Self.actions(rig).count == (refusal == nil ? 1 : 0))
    }

    @Test(arguments: [(-5, nil), (-5.1, Refusal.Code.invalidField)])
    func `a phone whose clock is far ahead is refused`(secondsAgo: Double, refusal: Refusal.Code?) {
        var rig = Rig.running(.lab, until: 60)
        Self.post(&rig, Self.tap, secondsAgo: secondsAgo)
        #expect(rig.lastRefusal == refusal)
    }

    /// Two users, each with a phone and a door that only this user may open.
    private static func doors() -> Rig {
        var rig = Rig()
        for (user, device) in [("ann", "phone"), ("bob", "other")] {
            rig.register(device, #"{"user":"\#(user)","os":"26.1"}"#)
        }
        let type = #"{"intents":["UnlockDoor"]}"#
        // A test's own text, here and below.
        guard let read = try? ActivityType(reading: Rig.json(type)) else {
            Issue.record("\(type)")
            return rig
        }
        rig.step(.type(read, name: "Door", app: nil, Rig.tenant, Ticket(900)))
        for (door, user) in [("door-7", "ann"), ("door-8", "bob")] {
            let body =
                #"{"subject":{"key":"\#(door)","readers":{"users":["\#(user)"]}},"type":"Door","#
                + #""content":{"word":"locked"},"url":"door://\#(door)"}"#
            // As above.
            guard let put = try? TimelineRequest(reading: Rig.json(body)),
                let kind = Identifier("door")
            else {
                Issue.record("\(body)")
                return rig
            }
            rig.step(.timeline(.put(put, kind: kind), Rig.tenant, Ticket(901)))
        }
        rig.advance(to: 60)
        return rig
    }

    @Test func `a widget's button is taken for what its device may read, and nothing else`() {
        var rig = Self.doors()
        let unlock = #"{"widget":"door","config":"door-7","intent":"UnlockDoor"}"#
        Self.post(&rig, unlock)
        #expect(rig.lastRefusal == nil)
        let action = Self.actions(rig).last
        #expect(action?["widget"]?.string == "door")
        #expect(action?["config"]?.string == "door-7")
        for (body, device) in [
            (unlock, "other"), (unlock.replacing("door-7", with: "door-8"), "phone"),
            (unlock.replacing("door-7", with: "door-9"), "phone"),
            (unlock.replacing(#","config":"door-7""#, with: ""), "phone"),
            (unlock.replacing("UnlockDoor", with: "OpenWindow"), "phone"),
            (unlock.replacing(#""door""#, with: #""gate""#), "phone"),
            (#"{"widget":"door","config":"door-7","link":"door://door-8"}"#, "phone"),
        ] {
            Self.post(&rig, body, device: device)
            #expect(rig.lastRefusal == .notOffered, "\(device): \(body)")
        }
        Self.post(&rig, #"{"widget":"door","config":"door-7","link":"door://door-7"}"#)
        #expect(rig.lastRefusal == nil)
        #expect(Self.actions(rig).count == 2)
    }

    @Test(arguments: [
        #"{"widget":"door","activity":"cat","intent":"A"}"#, #"{"widget":"door"}"#,
        #"{"config":"door-7","intent":"A"}"#, #"{"widget":"a b","intent":"A"}"#,
        #"{"widget":"door","config":"door-7,door-8","intent":"A"}"#,
    ])
    func `a widget's button names its widget, and no card`(body: String) {
        let whole = body.dropLast() + #","at":"2026-11-20T14:02:11Z"}"#
        #expect(throws: FieldErrors.self) {
            _ = try DeviceAction(reading: Rig.json(String(whole)))
        }
    }

    @Test func `an action that is posted twice is one, also after a restart`() {
        var rig = Rig.running(.lab, until: 1)
        Self.post(&rig, Self.tap, key: "tap-1")
        let first = Self.taken(rig)
        Self.post(&rig, Self.tap, key: "tap-1")
        #expect(Self.taken(rig) == first && first != nil)
        _ = rig.crash(recoverAt: 40)
        // The first answer may have been lost: it comes again, however late.
        Self.post(&rig, Self.tap, secondsAgo: 39, key: "tap-1")
        #expect(Self.taken(rig) == first)
        #expect(Self.actions(rig).count == 1)
        Self.post(&rig, #"{"activity":"cat","expires":"1m"}"#, key: "tap-1", digest: 2)
        #expect(rig.lastRefusal == .idempotencyKeyReused)
        Self.post(&rig, Self.tap, key: "tap-2")
        #expect(Self.taken(rig) != first)
        #expect(Self.actions(rig).count == 2)
    }

    @Test func `the keys of a day are forgotten after it, and a device's with the device`() {
        var rig = Rig.running(.lab, until: 1)
        Self.post(&rig, Self.tap, key: "tap-1")
        #expect(rig.stored.contains { $0.space == .action && $0.value != nil })
        rig.tell(.delete)
        rig.step(
            .erase(.device(DeviceKey(tenant: Rig.tenant, id: Identifier("phone")!)), Ticket(900)))
        let last = rig.stored.last { $0.space == .action }
        #expect(last != nil && last?.value == nil)
    }

    @Test func `a device that is deleted and registered again has no fresh minute, nor fresh keys`()
        throws
    {
        var rig = Self.doors()
        let unlock = #"{"widget":"door","config":"door-7","intent":"UnlockDoor"}"#
        Self.post(&rig, unlock, key: "tap-1")
        let first = Self.taken(rig)
        func again() {
            rig.tell(.delete)
            rig.register("phone", #"{"user":"ann","os":"26.1"}"#)
        }
        again()
        Self.post(&rig, unlock, key: "tap-1")
        #expect(Self.taken(rig) == first && first != nil, "its answer is the first one's")
        #expect(rig.crash(recoverAt: 100) == [])
        Self.post(&rig, unlock, key: "tap-1")
        #expect(Self.taken(rig) == first)
        for number in 1...ActionTable.perMinuteMax {
            Self.post(&rig, unlock)
            #expect(rig.lastRefusal == nil, "\(number)")
            if number % 20 == 0 { again() }
        }
        rig.advance(to: 110)
        Self.post(&rig, unlock)
        let refusal = try #require(rig.answers.last?.refused)
        #expect(refusal.code == .overloaded && refusal.retryAfter == .seconds(50))
        rig.advance(to: 160)
        Self.post(&rig, unlock)
        #expect(rig.lastRefusal == nil)
    }

    @Test func `a card that Apple refused offers no tap, and one that it may have taken does`() {
        for (verdict, refusal) in [
            (PushResult.refusal(400, "BadTopic", .push), Refusal.Code.notOffered),
            (.unknown(reason: "cut"), nil), (.accepted, nil),
        ] {
            var rig = Rig()
            rig.device("phone", .lab)
            rig.token("activity:cat", "bb")
            rig.verdict = { _ in verdict }
            rig.command(
                .start,
                #"{"type":"Runner","audience":{"device":"phone","start":"adopt"},"state":{}}"#)
            rig.advance(to: 1)
            #expect(!rig.pushes.isEmpty)
            Self.post(&rig, Self.tap)
            #expect(rig.lastRefusal == refusal, "\(verdict)")
            #expect(rig.crash(recoverAt: 2) == [])
        }
    }

    @Test func `where the relay's clock is known to be behind an action is as old as its arrival`()
    {
        var rig = Rig.running(.lab, until: 60)
        Self.post(&rig, Self.tap, secondsAgo: -3_600)
        #expect(rig.lastRefusal == .invalidField)
        rig.step(.clock(lead: rig.core.clock.lead, isBehind: true))
        Self.post(&rig, Self.tap, secondsAgo: -3_600)
        #expect(rig.lastRefusal == nil)
        #expect(Self.taken(rig)?.expiresAt == rig.core.wall(rig.now) + .seconds(30))
        Self.post(&rig, Self.tap, secondsAgo: 31)
        #expect(rig.lastRefusal == .actionExpired)
    }

    @Test func `a card that has ended offers its tap until a new life begins`() {
        var rig = Rig.running(.lab, until: 1)
        rig.command(.end, "{}")
        rig.advance(to: 5)
        Self.post(&rig, Self.tap)
        #expect(rig.lastRefusal == nil)
        rig.start(restart: true)
        rig.advance(to: 8)
        Self.post(&rig, #"{"activity":"cat~2"}"#)
        #expect(rig.lastRefusal == nil)
        Self.post(&rig, #"{"activity":"cat~3"}"#)
        #expect(rig.lastRefusal == .notOffered)
    }

    @Test func `a key of another person than the device's posts nothing`() {
        var rig = Self.doors()
        let unlock = #"{"widget":"door","config":"door-7","intent":"UnlockDoor"}"#
        for body in [unlock, #"{"intent":"UnlockDoor"}"#, #"{"link":"door://door-7"}"#] {
            Self.post(&rig, body, by: .device(user: "bob", app: nil, key: .max))
            #expect(rig.lastRefusal == .keyNotSignedIn, "\(body)")
        }
        for bound in ["ann", nil] {
            Self.post(&rig, unlock, by: .device(user: bound, app: nil, key: .max))
            #expect(rig.lastRefusal == (bound == nil ? .keyNotSignedIn : nil))
        }
        #expect(Self.actions(rig).count == 1)
    }

    @Test func `an action that no card or widget offers is refused`() {
        var rig = Rig.running(.lab)
        rig.device("other", .lab)
        rig.advance(to: 1)
        for body in [
            #"{"activity":"dog"}"#, #"{"intent":"Feed"}"#, #"{"activity":"cat","intent":"Feed"}"#,
            #"{"link":"app://cat"}"#,
        ] {
            Self.post(&rig, body)
            #expect(rig.lastRefusal == .notOffered, "\(body)")
        }
        Self.post(&rig, Self.tap, device: "other")
        #expect(rig.lastRefusal == .notOffered)
        Self.post(&rig, Self.tap, device: "nobody")
        #expect(rig.lastRefusal == .unknownDevice)
        #expect(Self.actions(rig).isEmpty)
    }

    @Test func `a type's intents are its card's buttons`() {
        var rig = Rig()
        rig.type(#"{"intents":["Feed","Stroke"]}"#)
        rig.runningActivity(.lab)
        rig.advance(to: 1)
        Self.post(&rig, #"{"activity":"cat","intent":"Feed","parameters":{"food":"fish"}}"#)
        #expect(rig.lastRefusal == nil)
        #expect(Self.actions(rig).last?["parameters"]?["food"]?.string == "fish")
        Self.post(&rig, #"{"intent":"Stroke"}"#)
        #expect(rig.lastRefusal == nil)
        Self.post(&rig, #"{"intent":"Bathe"}"#)
        #expect(rig.lastRefusal == .notOffered)
        // Its card is there for hours; its buttons do nothing any more.
        rig.command(.end, "{}")
        rig.advance(to: 5)
        for body in [#"{"activity":"cat","intent":"Feed"}"#, #"{"intent":"Stroke"}"#] {
            Self.post(&rig, body)
            #expect(rig.lastRefusal == .notOffered, "\(body)")
        }
    }

    @Test func `a widget offers its links, for a day after they are gone too`() {
        var rig = Rig()
        rig.device("phone", .lab, user: "u1")
        rig.device("other", .lab, user: "u2")
        func put(_ link: String) {
            rig.timeline(
                #"{"subject":{"user":"u1"},"content":{},"url":"\#(link)","links":["app://more"]}"#)
        }
        put("app://one")
        Self.post(&rig, #"{"link":"app://one"}"#)
        #expect(rig.lastRefusal == nil)
        Self.post(&rig, #"{"link":"app://more"}"#)
        #expect(rig.lastRefusal == nil)
        Self.post(&rig, #"{"link":"app://one"}"#, device: "other")
        #expect(rig.lastRefusal == .notOffered)
        put("app://two")
        _ = rig.crash(recoverAt: 60)
        Self.post(&rig, #"{"link":"app://one"}"#)
        #expect(rig.lastRefusal == nil)
        rig.advance(to: 86_300)
        Self.post(&rig, #"{"link":"app://one"}"#)
        #expect(rig.lastRefusal == nil)
        rig.advance(to: 86_500)
        Self.post(&rig, #"{"link":"app://one"}"#)
        #expect(rig.lastRefusal == .notOffered)
        Self.post(&rig, #"{"link":"app://two"}"#)
        #expect(rig.lastRefusal == nil)
    }

    @Test(arguments: [
        (#"{"link":"a:b","intent":"Feed","at":"2026-11-20T09:03:00Z"}"#, "/link"),
        (#"{"activity":"cat","parameters":{},"at":"2026-11-20T09:03:00Z"}"#, "/parameters"),
        (#"{"activity":"cat","at":"2026-11-20T09:03:00Z","expires":"601s"}"#, "/expires"),
        (#"{"activity":"cat","at":"2026-11-20T09:03:00Z","expires":"999ms"}"#, "/expires"),
        (#"{"activity":"cat~1","at":"2026-11-20T09:03:00Z"}"#, "/activity"),
        (#"{"link":"","at":"2026-11-20T09:03:00Z"}"#, "/link"),
        (#"{"activity":"cat"}"#, "/at"), (#"{"at":"2026-11-20T09:03:00Z"}"#, "/activity"),
    ])
    func `an invalid action is refused with its place`(body: String, pointer: String) {
        #expect(Rig.faults { try DeviceAction(reading: Rig.json(body)) } == [pointer])
    }

    @Test func `parameters and links have a bound`() throws {
        let at = #""at":"2026-11-20T09:03:00Z""#
        func reads(_ members: String) -> Bool {
            // That it is refused is the answer.
            (try? DeviceAction(reading: Rig.json("{\(members),\(at)}"))) != nil
        }
        let room = DeviceAction.parametersBytesMax - #"{"a":""}"#.utf8.count
        for (more, isRead) in [(0, true), (1, false)] {
            let text = String(repeating: "x", count: room + more)
            #expect(reads(#""intent":"I","parameters":{"a":"\#(text)"}"#) == isRead)
            let link = String(repeating: "x", count: DeviceAction.linkBytesMax + more)
            #expect(reads(#""link":"\#(link)""#) == isRead)
            let intent = String(repeating: "x", count: DeviceAction.intentBytesMax + more)
            #expect(reads(#""intent":"\#(intent)""#) == isRead)
        }
    }

    @Test func `a phone that posts without end is stopped`() {
        var rig = Rig.running(.lab, until: 1)
        for _ in 0..<ActionTable.perMinuteMax { Self.post(&rig, Self.tap) }
        #expect(rig.lastRefusal == nil)
        Self.post(&rig, Self.tap)
        #expect(rig.lastRefusal == .overloaded)
        rig.advance(to: 62)
        Self.post(&rig, Self.tap)
        #expect(rig.lastRefusal == nil)
    }
}
