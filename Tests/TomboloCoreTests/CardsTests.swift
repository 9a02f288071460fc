import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// How many cards there may be, in all, of a tenant and on a device: what runs is never sent away
/// for what is over, and no tenant takes the others' room.
@Suite struct CardsTests {
    static let other = TenantID(Identifier("other")!)

    /// Two tenants with an app each.
    static func shared(_ change: @escaping (inout Limits) -> Void) -> Rig {
        Rig {
            $0 = CoreConfiguration(
                apps: [Rig.tenant, Self.other].map {
                    CoreConfiguration.App(
                        tenant: $0, id: "com.example.\($0.name)", environment: .sandbox,
                        allowsLab: true)
                })
            change(&$0.limits)
        }
    }

    static func starts(_ names: [[String]], of tenant: TenantID = Rig.tenant) -> [Command] {
        names.enumerated().map { place, names in
            let devices = names.map { "\"\($0)\"" }.joined(separator: ",")
            let body = BoundsTests.start("{\"devices\":[\(devices)]}")
            // A test's own text.
            guard let content = try? Command.Content(kind: .start, Rig.json(body)) else {
                preconditionFailure(body)
            }
            return Command(
                activity: ActivityKey(tenant: tenant, id: Identifier("batch-\(place)")!),
                content: content, body: Array(body.utf8))
        }
    }

    @Test func `a device with all its cards still takes the token of each`() {
        var rig = BoundsTests.rig { $0.cardsPerDeviceMax = 2 }
        rig.device("phone")
        rig.token("start:Runner", "aa")
        for (id, token) in [("cat", "bb"), ("dog", "cc")] {
            rig.command(.start, BoundsTests.start(#"{"device":"phone"}"#), id: id)
            rig.token("activity:\(id)", token)
            #expect(rig.lastRefusal == nil)
        }
        rig.token("widget", "dd")
        #expect(rig.lastRefusal == nil)
        rig.command(.update, #"{"state":{"lap":7}}"#, id: "dog")
        rig.advance(to: 60)
        #expect(rig.pushes.last?.push.token == "cc")
    }

    @Test func `cards that are over make room on their device`() {
        var rig = BoundsTests.rig { $0.cardsPerDeviceMax = 4 }
        rig.device("phone", user: "ann")
        for life in 1...20 {
            rig.command(.start, BoundsTests.start(#"{"user":"ann"}"#)) { $0.restart = true }
            #expect(rig.lastAccepted != nil, "\(life)")
            rig.command(.end, "{}")
            #expect(rig.core.sizes.destinations <= 4)
        }
    }

    @Test func `a full device keeps a start from no other`() {
        var rig = BoundsTests.rig { $0.cardsPerDeviceMax = 2 }
        rig.device("phone", user: "ann")
        for id in ["a", "b"] {
            rig.command(.start, BoundsTests.start(#"{"device":"phone"}"#), id: id)
        }
        rig.command(.start, BoundsTests.start(#"{"user":"ann"}"#), id: "alone")
        #expect(BoundsTests.limit(rig) == "cards_per_device")
        rig.device("tablet", user: "ann")
        rig.command(.start, BoundsTests.start(#"{"user":"ann"}"#), id: "c")
        #expect(rig.lastAccepted?.destinations.skipped == 1)
        #expect(rig.view("c")?.destinations.map(\.recipient.name.rawValue) == ["tablet"])
        // When there is room, the app's next registration brings the card.
        rig.command(.end, "{}", id: "a")
        rig.advance(to: 86_400 + 600)
        rig.device("phone", user: "ann")
        #expect(rig.view("c")?.destinations.count == 2)
        #expect(rig.core.sizes.miscounted == 0)
    }

    @Test(arguments: ["cards", "cards_per_tenant"])
    func `no start is refused for cards of activities that are over`(limit: String) {
        var rig = BoundsTests.rig {
            if limit == "cards" { $0.cardsMax = 10 } else { $0.cardsPerTenantMax = 10 }
        }
        for device in ["phone", "tablet"] { rig.device(device) }
        for turn in 0..<100 {
            // 3 that run have 2 cards each, and the others one.
            let audience = turn < 3 ? #"{"devices":["phone","tablet"]}"# : #"{"device":"phone"}"#
            rig.command(.start, BoundsTests.start(audience), id: "turn-\(turn)")
            #expect(rig.lastAccepted != nil, "turn \(turn)")
            if turn >= 6 { rig.command(.end, "{}", id: "turn-\(turn - 3)") }
            rig.advance(to: Double(turn))
        }
        for extra in 0..<4 {
            rig.command(.start, BoundsTests.start(#"{"device":"phone"}"#), id: "extra-\(extra)")
            #expect(BoundsTests.limit(rig) == (extra < 1 ? nil : limit), "\(extra)")
        }
        #expect(rig.core.sizes.miscounted == 0)
    }

    @Test func `one tenant leaves the others their room`() throws {
        var rig = Self.shared {
            $0.cardsMax = 20
            $0.cardsPerTenantMax = 10
        }
        func start(_ tenant: TenantID, _ id: String) -> Input {
            var command = Self.starts([["phone"]], of: tenant)[0]
            command.activity = ActivityKey(tenant: tenant, id: Identifier(id)!)
            return .command(command, Ticket(1))
        }
        for place in 0..<30 { rig.step(start(Self.other, "a-\(place)")) }
        #expect(BoundsTests.limit(rig) == "cards_per_tenant")
        for place in 0..<10 {
            rig.step(start(Rig.tenant, "b-\(place)"))
            #expect(rig.lastAccepted != nil, "\(place)")
        }
        #expect(rig.core.sizes.miscounted == 0)
    }

    @Test func `cards on their way to the disk count, and those of a batch taken back do not`()
        throws
    {
        var rig = BoundsTests.rig { $0.cardsMax = 1_500 }
        let many = (0..<1_000).map { "d-\($0)" }
        rig.step(.atomic(Self.starts([many, many]), Ticket(1)))
        let (index, refusal) = try #require(rig.answers.last?.refusedBatch)
        #expect(index == 1)
        #expect(refusal.code == .limitReached)
        #expect(rig.core.sizes.miscounted == 0)
        rig.step(.atomic(Self.starts([many, Array(many.prefix(500))]), Ticket(2)))
        #expect(rig.lastAcceptedAll != nil)
        rig.command(.start, BoundsTests.start(#"{"device":"phone"}"#))
        #expect(BoundsTests.limit(rig) == "cards")
        #expect(rig.core.sizes.miscounted == 0)
    }

    @Test func `a user's devices that come while a start is on its way count`() {
        var rig = BoundsTests.rig { $0.cardsMax = 3 }
        rig.commitsByItself = false
        rig.device("phone", user: "ann")
        rig.command(.start, BoundsTests.start(#"{"user":"ann"}"#))
        for device in ["tablet", "watch"] { rig.device(device, user: "ann") }
        #expect(rig.core.sizes.miscounted == 0)
        rig.device("fourth", user: "ann")
        #expect(BoundsTests.limit(rig) == "cards")
        rig.tell(.delete, "tablet")
        while rig.commit() {}
        #expect(rig.core.sizes.destinations == 2)
        #expect(rig.core.sizes.miscounted == 0)
    }

    @Test func `an atomic batch is one bounded piece of work`() throws {
        var rig = Rig()
        let many = (0..<1_000).map { "d-\($0)" }
        rig.step(.atomic(Self.starts(Array(repeating: many, count: 4)), Ticket(1)))
        let (index, refusal) = try #require(rig.answers.last?.refusedBatch)
        #expect(index == 3)
        #expect(refusal.code == .invalidField)
        rig.step(.atomic(Self.starts(Array(repeating: ["phone"], count: 200)), Ticket(2)))
        #expect(rig.lastAcceptedAll != nil)
        #expect(rig.core.sizes.destinations == 0)
        #expect(rig.core.sizes.miscounted == 0)
    }

    @Test func `starts on their way make so many cards, and the next waits`() {
        var rig = BoundsTests.rig { $0.pendingCardsMax = 5 }
        rig.commitsByItself = false
        let three = BoundsTests.start(#"{"devices":["a","b","c"]}"#)
        for id in ["one", "two"] {
            rig.command(.start, three, id: id)
            #expect(rig.lastRefusal == nil)
        }
        rig.command(.start, three, id: "three")
        #expect(rig.lastRefusal == .overloaded)
        while rig.commit() {}
        rig.command(.start, three, id: "three")
        while rig.commit() {}
        #expect(rig.lastAccepted != nil)
    }

    @Test func `one end for many counts the cards that it looks at`() throws {
        var rig = Rig()
        for device in 0..<100 { rig.device("d-\(device)", user: "ann") }
        for place in 0..<100 {
            rig.command(.start, BoundsTests.start(#"{"user":"ann"}"#), id: "a-\(place)")
        }
        guard case .end(let end) = try Command.Content(kind: .end, Rig.json("{}")) else {
            Issue.record("an end is read as something else")
            return
        }
        let request = EndMany(
            tenant: Rig.tenant, type: nil, user: nil, end: end, body: Array("{}".utf8))
        var place = 0
        while let places = rig.core.piece(of: request, from: place) {
            #expect(places.count <= 1 + EndMany.lookedAtMax / 100)
            place = places.upperBound
        }
        #expect(place == 100)
    }

    @Test func `a card that shows up while its activity leaves is ended and forgotten`() {
        var rig = Rig.running()
        rig.command(.end, "{}")
        rig.advance(to: 86_390)
        rig.commitsByItself = false
        for seconds in [86_402, 86_410] {
            rig.now = Rig.epoch + .seconds(Int64(seconds))
            rig.step(.tick)
        }
        let isOnItsWay = rig.take()
        #expect(isOnItsWay && rig.core.sizes.destinations == 0)
        rig.token("activity:cat", "ee")
        while rig.commit() {}
        rig.commitsByItself = true
        rig.command(.start, #"{"type":"Runner","state":{"lap":0}}"#, id: "dog")
        rig.advance(to: 3 * 86_400)
        #expect(rig.pushes.last?.push.token == "ee")
        #expect(rig.pushes.last?.push.event == .end)
        #expect(rig.core.sizes.destinations == 0)
        #expect(rig.core.sizes.miscounted == 0)
    }
}
