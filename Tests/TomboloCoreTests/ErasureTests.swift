import CoreRig
import Testing
import TomboloCore

/// What memory forgets, and what it asks the log's current values to forget.
@Suite struct ErasureTests {
    private static let cat = ActivityKey(tenant: Rig.tenant, id: Identifier("cat")!)
    private static let phone = DeviceKey(tenant: Rig.tenant, id: Identifier("phone")!)

    private func erase(_ rig: inout Rig, _ subject: ErasureSubject) -> Answer? {
        rig.step(.erase(subject, Ticket(900)))
        return rig.answers.last
    }

    @Test func `a running activity is not erased`() {
        var rig = Rig.running()
        #expect(erase(&rig, .activity(Self.cat, number: nil)) != nil)
        #expect(rig.lastRefusal == .activityRunning)
        #expect(rig.view() != nil)
    }

    @Test
    func `an ended activity goes, with its checkpoints and dead letters, and the rest works on`()
        throws
    {
        var rig = Rig.running()
        rig.verdict = { _ in .refusal(400, "PayloadEmpty", .push) }
        rig.advance(to: 30)
        rig.update(lap: 2, until: 60)
        rig.command(.end, "{}")
        rig.advance(to: 90)
        let letters = { (rig: borrowing Rig) in
            rig.core.deadLetters(
                DeadLetterQuery(tenant: Rig.tenant), before: nil, limit: 100
            ).letters.count
        }
        #expect(letters(rig) > 0)
        guard case .stored(let stored) = erase(&rig, .activity(Self.cat, number: nil)) else {
            Issue.record("\(String(describing: rig.answers.last))")
            return
        }
        #expect(stored.kind == .deleted)
        #expect(stored.number == 1)
        #expect(rig.view() == nil)
        #expect(letters(rig) == 0)
        let left = Dictionary(
            rig.stored.map { ("\($0.space) \($0.number)", $0.value != nil) },
            uniquingKeysWith: { $1 })
        #expect(
            !left.contains {
                $0.value && ($0.key.hasPrefix("checkpoint") || $0.key.hasPrefix("dead"))
            })
        #expect(erase(&rig, .activity(Self.cat, number: nil)) != nil)
        #expect(rig.lastRefusal == .unknownActivity)
        rig.command(.start, #"{"type":"Runner","state":{"lap":1}}"#)
        #expect(rig.lastAccepted?.version == 1)
    }

    @Test func `another of the same name is not meant`() {
        var rig = Rig()
        rig.command(.start, #"{"type":"T","state":{}}"#)
        rig.command(.end, "{}")
        #expect(
            erase(&rig, .activity(Self.cat, number: ActivityNumber(7))) != nil
                && rig.lastRefusal == .unknownActivity)
        #expect(rig.view() != nil)
    }

    @Test(arguments: [
        #"{"type":"T","audience":{"device":"phone"},"state":{}}"#,
        #"{"type":"T","state":{},"audience":{"devices":["ph\u006fne"]}}"#,
        #"{"type":"T","state":{},"audience":{"device":"phon\u0065"}}"#,
        #"{"type":"T","state":{},"audience":{"device":"\u0070\u0068\u006f\u006e\u0065"}}"#,
    ])
    func `a device is found in a start, however its name is written`(body: String) {
        #expect(DeviceTrace.inStart(Array(body.utf8), of: Self.phone.id) == .alone)
        #expect(DeviceTrace.inStart(Array(body.utf8), of: Identifier("phon")!) == .none)
    }

    @Test func `a device goes, running cards for it alone too, and others lose its name`() throws {
        var rig = Rig()
        rig.device("phone")
        rig.device("other")
        rig.command(
            .start, #"{"type":"T","audience":{"device":"phone"},"state":{"a":1}}"#, id: "alone")
        rig.command(
            .start, #"{"type":"T","audience":{"devices":["phone","other"]},"state":{"a":1}}"#,
            id: "both")
        guard case .stored = erase(&rig, .device(Self.phone)) else {
            Issue.record("\(String(describing: rig.answers.last))")
            return
        }
        #expect(rig.core.deviceView(Self.phone, now: rig.now) == nil)
        let alone = ActivityKey(tenant: Rig.tenant, id: Identifier("alone")!)
        #expect(rig.core.view(alone, now: rig.now) == nil)
        let both = ActivityKey(tenant: Rig.tenant, id: Identifier("both")!)
        #expect(rig.core.view(both, now: rig.now)?.destinations.count == 1)
        let head = try #require(rig.heads[ActivityNumber(2)]?.0)
        #expect(DeviceTrace.inHead(head.value, of: Self.phone.id) == .none)
        #expect(!head.follows, "no event says so: the head itself must be written")
        rig.command(.update, #"{"state":{"a":2}}"#, id: "both")
        #expect(rig.heads[ActivityNumber(2)]?.0.follows == true)
        rig.device("phone")
        #expect(rig.core.view(both, now: rig.now)?.destinations.count == 1, "it is a stranger now")
    }
}
