import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// What the relay numbers counts for each tenant alone: a number over all would tell of others.
@Suite struct TenantNumberTests {
    private static let other = TenantID(Identifier("other")!)

    private static func pause(_ rig: inout Rig, _ tenant: TenantID) throws {
        let request = try PauseRequest(reading: Rig.json(#"{"type":"Runner"}"#))
        rig.step(.pause(.pause(request), tenant, Ticket(7)))
    }

    @Test func `pauses are numbered by tenant, over a crash too`() throws {
        var rig = Rig()
        for _ in 0..<3 { try Self.pause(&rig, Self.other) }
        try Self.pause(&rig, Rig.tenant)
        #expect(rig.core.pauses(of: Rig.tenant).map(\.name) == ["pause_1"])
        #expect(rig.crash(recoverAt: 5) == [])
        try Self.pause(&rig, Rig.tenant)
        #expect(rig.core.pauses(of: Rig.tenant).map(\.name) == ["pause_1", "pause_2"])
        rig.resume(1)
        #expect(rig.core.pauses(of: Rig.tenant).map(\.name) == ["pause_2"])
        #expect(rig.core.pauses(of: Self.other).count == 3)
    }

    @Test func `one tenant's dead letters are neither counted with another's nor evict them`()
        throws
    {
        var rig = Rig {
            $0.apps.append(
                CoreConfiguration.App(
                    tenant: Self.other, id: "com.example.other", environment: .sandbox,
                    allowsLab: true))
        }
        rig.verdict = { _ in .refusal(400, "BadTopic", .push) }
        for tenant in [Rig.tenant, Self.other] {
            let key = DeviceKey(tenant: tenant, id: Identifier("phone")!)
            let registration = try DeviceRegistration(reading: Rig.json(#"{"budget_class":"lab"}"#))
            let token = try TokenRegistration(reading: Rig.json(#"{"token":"aa"}"#))
            rig.step(.device(key, .register(registration), Ticket(1)))
            rig.step(.device(key, .putToken(TokenName("activity:cat")!, token), Ticket(2)))
            rig.command(.start, OrphanTests.start) {
                $0.activity = ActivityKey(tenant: tenant, id: Identifier("cat")!)
            }
            if tenant == Rig.tenant { rig.advance(to: 1) }
        }
        // The other tenant's go on and on; the first tenant's one stays.
        for number in 1...10_120 {
            rig.command(.update, #"{"state":{"lap":\#(number)}}"#) {
                $0.activity = ActivityKey(tenant: Self.other, id: Identifier("cat")!)
            }
            rig.advance(to: Double(number) * 2)
        }
        let own = rig.core.deadLetters(
            DeadLetterQuery(tenant: Rig.tenant), before: nil, limit: 100
        ).letters
        #expect(own.map(\.id) == ["dead_1"])
        let others = rig.core.deadLetters(
            DeadLetterQuery(tenant: Self.other), before: nil, limit: 20_000
        ).letters
        #expect((10_000..<10_100).contains(others.count), "\(others.count)")
        #expect((others.first?.serial ?? 0) > 10_100, "the newest are there")
    }
}
