import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// What is kept has a limit with a name: the last one within it is taken, and the next is refused
/// before anything of it is stored.
@Suite struct BoundsTests {
    static func start(_ audience: String) -> String {
        #"{"type":"Runner","audience":\#(audience),"state":{"lap":0}}"#
    }

    static func rig(_ change: @escaping (inout Limits) -> Void) -> Rig {
        Rig { change(&$0.limits) }
    }

    /// The limit that the last answer names; nil where it is no such refusal.
    static func limit(_ rig: borrowing Rig) -> String? {
        guard let refusal = rig.lastRefused, refusal.code == .limitReached else { return nil }
        let words = refusal.detail.split(separator: " ")
        return words.first { $0.hasPrefix("limits.") }.map { String($0.dropFirst(7)) }
    }

    @Test(arguments: [#"{"user":"ann"}"#, #"{"device":"phone"}"#, #"{"devices":["a","phone"]}"#])
    func `a user and a device have so many running activities`(audience: String) {
        var rig = Self.rig { $0.runningPerRecipientMax = 3 }
        rig.device("phone", user: "ann")
        for id in ["one", "two", "three"] {
            rig.command(.start, Self.start(audience), id: id)
            #expect(rig.lastAccepted != nil)
        }
        let events = rig.history.count
        rig.command(.start, Self.start(audience), id: "four")
        #expect(Self.limit(rig) == "activities_per_user")
        #expect(rig.history.count == events)
        #expect(rig.view("four") == nil)
        rig.command(.start, Self.start(#"{"user":"bob"}"#), id: "other")
        #expect(rig.lastAccepted != nil)
        rig.command(.end, "{}", id: "two")
        rig.command(.start, Self.start(audience), id: "four")
        #expect(rig.lastAccepted != nil)
    }

    @Test func `starts on their way to the disk count`() {
        for audience in [#"{"user":"ann"}"#, #"{"device":"phone"}"#] {
            var rig = Self.rig { $0.runningPerRecipientMax = 2 }
            rig.commitsByItself = false
            for id in ["one", "two"] {
                rig.command(.start, Self.start(audience), id: id)
                #expect(rig.lastRefusal == nil)
            }
            rig.command(.start, Self.start(audience), id: "three")
            #expect(Self.limit(rig) == "activities_per_user")
            rig.commit()
            rig.command(.start, Self.start(audience), id: "three")
            #expect(Self.limit(rig) == "activities_per_user")
        }
    }

    @Test func `an atomic batch that is taken back leaves room`() throws {
        var rig = Self.rig { $0.runningPerRecipientMax = 2 }
        func batch(_ ids: [String]) throws -> [Command] {
            try ids.map { try Command(.start, Self.start(#"{"user":"ann"}"#), id: $0) }
        }
        rig.step(.atomic(try batch(["one", "two", "three"]), Ticket(1)))
        let (index, refusal) = try #require(rig.answers.last?.refusedBatch)
        #expect(index == 2)
        #expect(refusal.code == .limitReached)
        rig.step(.atomic(try batch(["one", "two"]), Ticket(2)))
        #expect(rig.lastAcceptedAll?.count == 2)
    }

    @Test func `a restart leaves no more room than there was`() {
        var rig = Self.rig { $0.runningPerRecipientMax = 2 }
        for id in ["one", "two"] { rig.command(.start, Self.start(#"{"user":"ann"}"#), id: id) }
        #expect(rig.crash(recoverAt: 5).isEmpty)
        rig.command(.start, Self.start(#"{"user":"ann"}"#), id: "three")
        #expect(Self.limit(rig) == "activities_per_user")
    }

    @Test func `a start that would be refused is refused in its dry run`() throws {
        var rig = Self.rig { $0.runningPerRecipientMax = 1 }
        rig.command(.start, Self.start(#"{"user":"ann"}"#))
        let command = try Command(.start, Self.start(#"{"user":"ann"}"#), id: "dog")
        let error = #expect(throws: Refusal.self) {
            try rig.core.dryRun(command, now: rig.now)
        }
        #expect(error?.code == .limitReached)
    }

    @Test func `a device that changes its user for ever has so many cards`() {
        var rig = Self.rig { $0.cardsPerDeviceMax = 6 }
        for user in ["ann", "bob"] {
            rig.command(.start, Self.start(#"{"user":"\#(user)"}"#), id: user)
        }
        var changes = 0
        while changes < 20, Self.limit(rig) == nil {
            rig.device("phone", user: changes.isMultiple(of: 2) ? "ann" : "bob")
            changes += 1
        }
        #expect(changes == 7)
        #expect(Self.limit(rig) == "cards_per_device")
    }

    @Test func `tokens of cards that nobody began make so many cards`() {
        var rig = Self.rig { $0.cardsPerDeviceMax = 5 }
        rig.device("phone")
        rig.command(.start, Self.start(#"{"device":"phone"}"#))
        rig.command(.end, "{}")
        for name in 1...20 {
            let token = "b\(name % 10)c\(name / 10)"
            let name = "activity:cat~1.\(name)"
            rig.token(name, token)
            #expect(rig.lastRefusal == nil)
            rig.deleteToken(name, token)
            #expect(rig.core.sizes.destinations <= 5)
        }
    }

    @Test func `a user has so many devices`() {
        var rig = Self.rig { $0.devicesPerUserMax = 2 }
        for device in ["phone", "tablet"] { rig.device(device, user: "ann") }
        rig.device("watch", user: "ann")
        #expect(Self.limit(rig) == "devices_per_user")
        rig.device("phone", user: "ann")
        #expect(Self.limit(rig) == nil)
        rig.tell(.delete, "tablet")
        rig.device("watch", user: "ann")
        #expect(Self.limit(rig) == nil)
    }
}
