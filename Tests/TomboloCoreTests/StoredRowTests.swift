import CoreRig
import TestSupport
import Testing
import TomboloCore
import TomboloJSON

/// Rows of the log whose bytes are whole, and whose values no relay has written: start-up takes
/// them or sets them aside, and the core lives on with all others.
@Suite struct StoredRowTests {
    /// What a member may turn out to be.
    private static let hostile = [
        "null", "true", "-1", "0", "1", "9007199254740993", "-9007199254740993",
        "9223372036854775807", "-9223372036854775808", "1e308", "-1e308", "1e-308", "1e400",
        "\"\"", "\"x\"", "\"9223372036854775807h\"", "[]", "{}", "[[1e308,-1e308],null]",
    ]

    /// A core with one of each thing, two activities and some time behind it.
    private static func world() -> Rig {
        var rig = Rig()
        rig.keepsLaws = false
        rig.makesChannels = true
        rig.device("phone", user: "ann", os: "18.1")
        for (name, token) in [
            ("start:Runner", "aa"), ("widget", "cc"), ("activity:cat", "bb"),
            ("activity:ending", "dd"),
        ] {
            rig.token(name, token)
        }
        rig.command(
            .start,
            #"{"type":"Runner","audience":{"device":"phone"},"state":{"lap":0,"x":0},"#
                + #""stale_after":"10m","relevance":5,"alert":{"title":"t","body":"b"}}"#)
        rig.command(
            .play,
            #"{"flipbook":{"path":"/lap","frames":[1,2,3],"every":"20s","clock":"shown"}}"#)
        rig.command(
            .start, #"{"type":"Runner","audience":{"user":"ann"},"state":{"x":0}}"#, id: "ending")
        rig.command(
            .play, #"{"tween":{"path":"/x","from":0,"to":9,"duration":"1h"}}"#, id: "ending")
        rig.command(.start, #"{"type":"Other","state":{"y":1}}"#, id: "bystander")
        rig.reload(#"{"device":"phone"}"#)
        _ = rig.pause(#"{"type":"Nobody"}"#)
        rig.channel("final", "dGhlIGNoYW5uZWw=")
        rig.command(
            .start, #"{"type":"Runner","audience":{"channel":"final"},"state":{}}"#, id: "game")
        rig.advance(to: 30)
        rig.verdict = { push in
            push.event == .update
                ? .refusal(400, "BadTopic", .push)
                : .accepted
        }
        rig.command(.update, #"{"state":{"lap":7},"alert":{"title":"t"}}"#)
        rig.advance(to: 60)
        rig.verdict = { _ in .accepted }
        rig.command(.end, #"{"state":{"x":1}}"#, id: "ending")
        rig.command(
            .start, #"{"type":"Runner","audience":{"device":"phone"},"state":{"x":0}}"#,
            id: "ending"
        ) { $0.restart = true }
        rig.advance(to: 90)
        return rig
    }

    /// The core goes on with `recovery`, lives for a while, and is looked at from all sides. Where
    /// it has set the row aside nothing of the row is left, and a short life is enough.
    private static func live(_ world: borrowing Rig, _ recovery: CoreRecovery, _ what: String) {
        var rig = world.twin()
        let isTaken = rig.recover(recovery).isEmpty
        for second in isTaken ? [95.0, 800] : [95, 100] {
            rig.advance(to: second)
            if second == 95 {
                for id in ["cat", "ending", "game"] {
                    rig.command(.update, #"{"state":{"z":1}}"#, id: id)
                }
            }
            look(rig)
        }
        rig.command(.update, #"{"state":{"y":2}}"#, id: "bystander")
        #expect(rig.lastAccepted?.version == 2, "\(what): the bystander is served")
        for id in ["cat", "ending", "game"] {
            rig.command(.start, #"{"type":"Runner","state":{}}"#, id: id) { $0.restart = true }
            rig.command(.end, "{}", id: id)
        }
        rig.advance(to: isTaken ? 1_000 : 105)
        look(rig)
    }

    /// Reads what readers read.
    private static func look(_ rig: borrowing Rig) {
        let page = rig.activities(limit: 100)
        for view in page.views { _ = rig.core.ledgers(of: view.key, now: rig.now) }
        for device in ["phone"] {
            _ = rig.core.deviceView(
                DeviceKey(tenant: Rig.tenant, id: Identifier(device)!), now: rig.now)
        }
        _ = rig.core.counters(of: Rig.tenant)
        _ = rig.core.pauses(of: Rig.tenant)
        _ = rig.core.deadLetters(DeadLetterQuery(tenant: Rig.tenant), before: nil, limit: 100)
        _ = rig.core.budgets(of: Rig.tenant, activity: nil, device: nil, limit: 100, now: rig.now)
    }

    /// Every place in a row, and the row with something else there.
    private static func variants(_ value: [UInt8]) -> [(String, [UInt8])] {
        var found: [(String, [UInt8])] = [
            ("nothing", []), ("no JSON", Array("{\"a\":".utf8)), ("a list", Array("[]".utf8)),
            ("half", Array(value.prefix(value.count / 2))),
        ]
        let row = JSON(unchecked: value)
        for place in places(row.document.root, []) where !place.isEmpty {
            let pointer = JSONPointer(tokens: place)
            for text in hostile {
                let changed = row.setting(pointer, to: JSON(unchecked: Array(text.utf8)))
                if let changed { found.append(("\(pointer) \(text)", changed.bytes)) }
            }
        }
        return found
    }

    private static func places(_ view: JSONView, _ place: [String]) -> [[String]] {
        var all = [place]
        for (name, value) in view.members { all += places(value, place + [name]) }
        for (index, value) in view.elements.enumerated() {
            all += places(value, place + [String(index)])
        }
        return all
    }

    @Test func `a head with values that no relay wrote stops nobody but its activity`() {
        let world = Self.world()
        let recovery = world.recovery()
        for index in recovery.heads.indices {
            let head = recovery.heads[index].head
            let stored = DecodedHead(head.value, version: recovery.heads[index].version)
            guard stored?.key.id.rawValue != "bystander" else { continue }
            for (what, value) in Self.variants(head.value) {
                var poisoned = recovery
                poisoned.heads[index].head = ActivityHead(activity: head.activity, value: value)
                Self.live(world, poisoned, what)
            }
        }
    }

    @Test func `the numbers of a head's row end nobody`() {
        let world = Self.world()
        let recovery = world.recovery()
        let numbers: [Int64] = [.min, -1, 0, 1 << 53, .max]
        for index in recovery.heads.indices {
            let head = recovery.heads[index].head
            let stored = DecodedHead(head.value, version: recovery.heads[index].version)
            guard stored?.key.id.rawValue != "bystander" else { continue }
            for number in numbers {
                var poisoned = recovery
                poisoned.heads[index].version = number
                Self.live(world, poisoned, "version \(number)")
                poisoned = recovery
                poisoned.heads[index].head = ActivityHead(
                    activity: ActivityNumber(number), value: head.value)
                Self.live(world, poisoned, "number \(number)")
            }
        }
    }

    @Test(arguments: [
        RecordSpace.device, .checkpoint, .type, .channel, .pause, .deadLetter, .relay, .key,
    ])
    func `a record with values that no relay wrote stops nobody`(space: RecordSpace) {
        let world = Self.world()
        let recovery = world.recovery()
        var seen = 0
        for index in recovery.records.indices where recovery.records[index].space == space {
            guard let value = recovery.records[index].value else { continue }
            seen += 1
            for (what, bytes) in Self.variants(value) {
                var poisoned = recovery
                poisoned.records[index].value = bytes
                Self.live(world, poisoned, "\(space) \(what)")
            }
            var poisoned = recovery
            poisoned.records[index].number = 1 << 48 - 1
            Self.live(world, poisoned, "\(space): the highest number")
        }
        if [.device, .checkpoint, .channel, .pause, .deadLetter].contains(space) {
            #expect(seen > 0, "there is one to be poisoned")
        }
    }
}
