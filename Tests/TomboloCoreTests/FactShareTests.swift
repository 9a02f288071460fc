import CoreRig
import Testing
import TomboloJSON

@testable import TomboloCore

/// One tenant does not push out the history of the others.
@Suite struct FactShareTests {
    private static let other = TenantID(Identifier("beta")!)

    /// Two tenants, and room for some 110 facts of detail in a burst.
    private static func rig(tenants: Int = 2) -> Rig {
        var rig = Rig {
            $0.factRoom = FactRoom(bytes: 40_000, age: .hours(4))
            guard tenants > 1 else { return }
            var app = $0.apps[0]
            app.tenant = other
            $0.apps.append(app)
        }
        rig.device()
        return rig
    }

    /// Facts of a tenant that register a token.
    private static func tokens(_ rig: borrowing Rig, of tenant: TenantID = Rig.tenant) -> Int {
        rig.facts.count { $0.kind == "token.registered" && $0.tenant == tenant }
    }

    private static func leftOut(_ rig: borrowing Rig, _ kind: String = "token.registered") -> Int64
    {
        rig.facts.filter { $0.kind == "history.thinned" }.reduce(0) { sum, fact in
            let root = (try? JSONDocument(fact.body))?.root  // a wrong body counts nothing
            return sum + (root?["left_out"]?[kind]?.integer ?? 0)
        }
    }

    private static func register(_ count: Int, _ rig: inout Rig) {
        for number in 0..<count { rig.token("start:Cat", String(format: number)) }
    }

    @Test func `beyond its part a tenant's details are counted, and each is written or counted`() {
        var rig = Self.rig()
        Self.register(300, &rig)
        rig.advance(to: 70)
        let written = Self.tokens(rig)
        #expect((40...200).contains(written), "\(written)")
        #expect(Int64(written) + Self.leftOut(rig) == 300)
        #expect(rig.core.comingThinning(of: Rig.tenant, now: rig.now) == nil, "all is said")
        let thinned = rig.facts.filter { $0.kind == "history.thinned" }
        #expect(thinned.count == 2, "the first at once, the others a minute later")
        #expect(thinned.allSatisfy { $0.tenant == Rig.tenant && $0.activity == nil })
    }

    @Test func `left-out facts that are not reported yet can be queried`() {
        var rig = Self.rig()
        Self.register(300, &rig)
        let written = Self.tokens(rig)
        let coming = rig.core.comingThinning(of: Rig.tenant, now: rig.now)
        // A wrong body counts nothing.
        let root = coming.flatMap { try? JSONDocument($0.body) }?.root
        let said = Self.leftOut(rig)
        #expect(said == 1, "the first at once")
        #expect(root?["left_out"]?["token.registered"]?.integer == Int64(300 - written) - said)
        #expect(rig.core.comingThinning(of: Self.other, now: rig.now) == nil)
    }

    @Test func `a tenant within its share loses nothing to another tenant`() {
        var rig = Self.rig()
        Self.register(300, &rig)
        let key = DeviceKey(tenant: Self.other, id: Identifier("phone")!)
        // Texts of its own: where they cannot be read, the test is wrong, and says so.
        guard let registration = try? DeviceRegistration(reading: Rig.json("{}")) else {
            Issue.record("a registration of nothing")
            return
        }
        rig.step(.device(key, .register(registration), Ticket(9_001)))
        for number in 0..<20 {
            let fields = Rig.json("{\"token\":\"bb\(10 + number)\"}")
            // As above.
            guard let token = try? TokenRegistration(reading: fields) else { continue }
            rig.step(.device(key, .putToken(TokenName("start:Cat")!, token), Ticket(9_002)))
        }
        rig.advance(to: 70)
        #expect(Self.tokens(rig, of: Self.other) == 20)
        #expect(rig.facts.contains { $0.kind == "device.registered" && $0.tenant == Self.other })
    }

    @Test func `what others do not need is free: a tenant alone loses nothing`() {
        var rig = Self.rig(tenants: 1)
        Self.register(300, &rig)
        rig.advance(to: 70)
        #expect(Self.tokens(rig) == 300)
    }

    @Test func `pushes are always on record`() {
        var rig = Self.rig()
        Self.register(300, &rig)
        rig.token("start:Runner", "aa")
        rig.start()
        rig.token("activity:cat", "bb")
        rig.update(lap: 1, until: 70)
        #expect(rig.facts.count { $0.kind == "push.accepted" } == rig.pushes.count)
        #expect(rig.pushes.count >= 2)
    }

    @Test func `what an overtaken version comes to at a card that is gone is a detail`() {
        var rig = Self.rig()
        rig.runningActivity()
        rig.advance(to: 5)
        rig.report("cat", #"{"phase":"dismissed","by":"user"}"#)
        rig.command(.update, #"{"state":{"lap":1},"state_version":9}"#)
        for lap in 1...300 { rig.command(.update, #"{"state":{"lap":\#(lap)},"state_version":1}"#) }
        rig.advance(to: 70)
        let written = rig.facts.count { $0.kind == "push.skipped" }
        #expect((1...200).contains(written), "\(written)")
        #expect(Int64(written) + Self.leftOut(rig, "push.skipped") == 301)
    }

    @Test func `with time details are written again`() {
        var rig = Self.rig()
        Self.register(300, &rig)
        rig.advance(to: 4_000)
        let before = Self.tokens(rig)
        rig.token("start:Cat", "abab")
        rig.advance(to: 4_010)
        #expect(Self.tokens(rig) == before + 1)
    }

    @Test func `the last facts that were left out are reported when the relay stops`() {
        var rig = Self.rig()
        Self.register(300, &rig)
        rig.advance(to: 5)
        let known = Self.leftOut(rig) + Int64(Self.tokens(rig))
        let last = rig.core.takeBatch(now: rig.now, writesAll: true)
        let thinned = last?.facts.last { $0.kind == "history.thinned" }
        let root = thinned.flatMap { try? JSONDocument($0.body) }?.root  // as above
        #expect(known + (root?["left_out"]?["token.registered"]?.integer ?? 0) == 300)
    }
}

extension String {
    /// A token of its own for each number.
    fileprivate init(format number: Int) {
        self = "cc\(100_000 + number)"
    }
}
