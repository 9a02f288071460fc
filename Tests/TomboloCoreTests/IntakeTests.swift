import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// What is taken, what is refused, and that a refusal leaves nothing.
@Suite struct IntakeTests {
    static let start = #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0}}"#

    static func started() -> Rig {
        var rig = Rig()
        rig.device()
        rig.command(.start, start)
        return rig
    }

    @Test func `an answer comes only after the event is durable`() {
        var rig = Rig()
        rig.commitsByItself = false
        rig.command(.start, Self.start)
        #expect(rig.answers.isEmpty)
        #expect(rig.view() == nil, "readers see only what is durable")
        rig.commit()
        #expect(rig.lastAccepted?.seq == 1)
        #expect(rig.lastAccepted?.version == 1)
        #expect(rig.view() != nil)
    }

    @Test func `an equal start is no event, a different one is refused while it runs`() {
        var rig = Self.started()
        rig.command(.start, Self.start)
        #expect(rig.lastAccepted?.changed == false)
        #expect(rig.core.lastSeq == 1)
        rig.start(lap: 9)
        #expect(rig.lastRefusal == .activityRunning)
    }

    @Test func `an equal start beside an undurable one waits for it`() {
        var rig = Rig()
        rig.commitsByItself = false
        rig.command(.start, Self.start)
        rig.command(.start, Self.start)
        #expect(rig.answers.isEmpty)
        rig.commit()
        #expect(rig.answers.count == 2)
    }

    @Test func `after the end a start needs restart, and is a new incarnation`() {
        var rig = Self.started()
        rig.command(.end, "{}")
        rig.command(.end, "{}")
        #expect(rig.lastAccepted?.changed == false)
        rig.update(lap: 1)
        #expect(rig.lastRefusal == .activityEnded)
        rig.command(.start, Self.start)
        #expect(rig.lastRefusal == .activityEnded)
        rig.token("start:Runner", "aa")
        rig.command(.start, Self.start) { $0.restart = true }
        #expect(rig.lastAccepted?.version == 3)
        let attributes = rig.pushes.last.flatMap { Rig.aps($0.push)?["attributes"]?["activity_id"] }
        #expect(attributes?.string == "cat~2")
        rig.token("activity:cat", "bb")
        rig.update(lap: 5)
        #expect(
            rig.pushes.map(\.push.event) == [.start, .end],
            "a token of the first incarnation is none of the second's: its card goes away")
        #expect(rig.pushes.last?.push.token == "bb")
        rig.token("activity:cat~2", "cc")
        rig.advance(to: 5)
        #expect(rig.pushes.last?.push.token == "cc")
    }

    @Test func `an unknown activity is refused`() {
        for kind in [EventKind.update, .end, .stop] {
            var rig = Rig()
            rig.command(kind, kind == .update ? #"{"state":{}}"# : "{}")
            #expect(rig.lastRefusal == .unknownActivity)
        }
    }

    @Test func `conditions are checked before anything changes`() {
        var rig = Self.started()
        rig.command(.update, #"{"state":{"lap":1}}"#) { $0.expectation = .versions([7]) }
        #expect(rig.lastRefusal == .preconditionFailed)
        rig.command(.start, Self.start) { $0.expectation = .absent }
        #expect(rig.lastRefusal == .preconditionFailed)
        rig.command(.update, #"{"state":{"lap":1}}"#) { $0.expectation = .versions([1]) }
        #expect(rig.lastAccepted?.version == 2)
    }

    @Test func `one key is one event, and a running one is refused`() {
        var rig = Self.started()
        let key = IdempotencyKey(key: "order-1", bodyDigest: 1)
        rig.commitsByItself = false
        rig.command(.update, #"{"state":{"lap":1}}"#) { $0.idempotency = key }
        rig.command(.update, #"{"state":{"lap":1}}"#) { $0.idempotency = key }
        #expect(rig.lastRefusal == .idempotencyKeyRunning)
        rig.commit()
        rig.command(.update, #"{"state":{"lap":1}}"#) { $0.idempotency = key }
        #expect(rig.lastReplay == 2)
        // The log has the request. The door compares it with this one.
        rig.command(.update, #"{"state":{"lap":2}}"#) {
            $0.idempotency = IdempotencyKey(key: "order-1", bodyDigest: 2)
        }
        #expect(Self.isReplay(rig) == true)
    }

    /// Whether the last answer repeats an earlier one.
    static func isReplay(_ rig: borrowing Rig) -> Bool {
        if case .replay? = rig.answers.last { true } else { false }
    }

    @Test func `a key stands for a day, whatever the wall clock does`() {
        var rig = Self.started()
        let key = IdempotencyKey(key: "order-1", bodyDigest: 1)
        rig.command(.update, #"{"state":{"lap":1}}"#) { $0.idempotency = key }
        rig.step(.clock(lead: .hours(8_760)))
        rig.update(lap: 2)
        rig.command(.update, #"{"state":{"lap":1}}"#) { $0.idempotency = key }
        #expect(Self.isReplay(rig) == true)
        rig.advance(to: 86_399)
        rig.update(lap: 3)
        rig.command(.update, #"{"state":{"lap":1}}"#) { $0.idempotency = key }
        #expect(Self.isReplay(rig) == true)
        rig.advance(to: 86_402)
        rig.update(lap: 4)
        rig.command(.update, #"{"state":{"lap":1}}"#) { $0.idempotency = key }
        #expect(rig.lastAccepted != nil)
    }

    @Test func `a relay keeps so many keys`() {
        var rig = Rig { $0.limits.idempotencyKeysMax = 2 }
        rig.command(.start, Self.start)
        func update(_ key: Int) {
            rig.command(.update, #"{"state":{"lap":\#(key)}}"#) {
                $0.idempotency = IdempotencyKey(key: "key-\(key)", bodyDigest: 1)
            }
        }
        for key in 1...2 { update(key) }
        #expect(rig.lastAccepted != nil)
        update(3)
        #expect(BoundsTests.limit(rig) == "idempotency_keys")
        update(1)
        #expect(Self.isReplay(rig) == true)
        rig.update(lap: 9)
        #expect(rig.lastAccepted != nil)
        rig.advance(to: 86_402)
        update(3)
        #expect(rig.lastAccepted != nil)
    }

    @Test func `an atomic batch is taken whole or not at all`() throws {
        var rig = Self.started()
        func update(_ lap: Int, _ id: String) throws -> Command {
            try Command(.update, #"{"state":{"lap":\#(lap)}}"#, id: id)
        }
        rig.step(.atomic([try update(1, "cat"), try update(2, "dog")], Ticket(900)))
        let (index, refusal) = try #require(rig.answers.last?.refusedBatch)
        #expect(index == 1)
        #expect(refusal.code == .unknownActivity)
        #expect(rig.view()?.version == 1)
        rig.step(.atomic([try update(1, "cat"), try update(2, "cat")], Ticket(901)))
        #expect(rig.lastAcceptedAll?.map(\.version) == [2, 3])
    }

    @Test func `what cannot fit is refused with the bytes that it is over`() {
        var rig = Self.started()
        let large = String(repeating: "x", count: 5_000)
        rig.command(.update, #"{"state":{"note":"\#(large)"}}"#)
        #expect(rig.lastRefusal == .payloadTooLarge)
        #expect(rig.view()?.version == 1)
    }

    @Test func `the largest state that fits is taken, one byte more is not`() {
        var low = 0
        var high = 5_000
        func fits(_ count: Int) -> Bool {
            var rig = Self.started()
            rig.command(.update, #"{"state":{"note":"\#(String(repeating: "x", count: count))"}}"#)
            return rig.lastRefusal == nil
        }
        while low + 1 < high {
            let middle = (low + high) / 2
            if fits(middle) { low = middle } else { high = middle }
        }
        #expect(fits(low) && !fits(low + 1))
        #expect((3_500..<4_000).contains(low))
    }

    @Test func `the relay writes its id into the attributes, and refuses another one there`() {
        var rig = Rig.phone()
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone"},"attributes":{"name":"Mike"},"state":{}}"#
        )
        let attributes = rig.pushes.first.flatMap { Rig.aps($0.push)?["attributes"]?.raw }
        #expect(
            attributes.map { String(decoding: $0, as: UTF8.self) }
                == #"{"name":"Mike","activity_id":"cat"}"#)
        rig.command(
            .start, #"{"type":"Runner","attributes":{"activity_id":"dog"},"state":{}}"#, id: "x")
        #expect(rig.lastRefusal == .invalidField)
    }

    @Test func `ending by type ends every running activity of it and no other`() throws {
        var rig = Rig()
        for id in ["a", "b"] { rig.command(.start, #"{"type":"Runner","state":{}}"#, id: id) }
        rig.command(.start, #"{"type":"Door","state":{}}"#, id: "c")
        let content = try Command.Content(kind: .end, Rig.json("{}"))
        guard case .end(let end) = content else {
            Issue.record("\(content)")
            return
        }
        rig.step(
            .endMany(
                EndMany(
                    tenant: Rig.tenant, type: "Runner", user: nil, end: end, body: Array("{}".utf8)),
                Ticket(900)))
        #expect(rig.view("a")?.status == .ended)
        #expect(rig.view("b")?.status == .ended)
        #expect(rig.view("c")?.status == .waiting)
    }

    @Test func `one tenant sees nothing of another`() {
        let rig = Self.started()
        let other = TenantID(Identifier("other")!)
        #expect(
            rig.core.view(ActivityKey(tenant: other, id: Identifier("cat")!), now: rig.now) == nil)
        let phone = DeviceKey(tenant: other, id: Identifier("phone")!)
        #expect(rig.core.deviceView(phone, now: rig.now) == nil)
        #expect(rig.core.name(of: rig.view()!.number, tenant: other) == nil)
    }

    @Test func `an app that is not configured is refused with the nearest`() throws {
        var rig = Rig()
        rig.command(.start, #"{"type":"Runner","app":"com.example.ap","state":{}}"#)
        let refusal = try #require(rig.answers.last?.refused)
        #expect(refusal.code == .unknownApp)
        #expect(refusal.detail.contains("com.example.app"))
    }
}
