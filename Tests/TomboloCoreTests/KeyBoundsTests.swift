import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// How many idempotency keys there may be, in all and of a tenant, and for how long they count.
@Suite struct KeyBoundsTests {
    private static func start(_ id: String, _ key: String, of tenant: TenantID) -> Input {
        var command = CardsTests.starts([["phone"]], of: tenant)[0]
        command.activity = ActivityKey(tenant: tenant, id: Identifier(id)!)
        command.idempotency = IdempotencyKey(key: key, bodyDigest: 1)
        return .command(command, Ticket(1))
    }

    @Test func `one tenant leaves the others their keys`() {
        var rig = CardsTests.shared {
            $0.idempotencyKeysMax = 8
            $0.idempotencyKeysPerTenantMax = 4
        }
        for place in 0..<8 {
            rig.step(Self.start("a-\(place)", "key-\(place)", of: CardsTests.other))
        }
        #expect(BoundsTests.limit(rig) == "idempotency_keys_per_tenant")
        for place in 0..<4 {
            rig.step(Self.start("b-\(place)", "key-\(place)", of: Rig.tenant))
            #expect(rig.lastAccepted != nil, "\(place)")
        }
        // A day frees them all.
        rig.advance(to: 86_402)
        for place in 0..<8 {
            rig.step(Self.start("c-\(place)", "later-\(place)", of: CardsTests.other))
            #expect((rig.lastAccepted != nil) == (place < 4), "\(place)")
        }
    }

    @Test func `keys of a batch that is rolled back do not count`() {
        var rig = CardsTests.shared { $0.idempotencyKeysPerTenantMax = 2 }
        var batch = CardsTests.starts([["a"], ["b"], ["c"]])
        for place in batch.indices {
            batch[place].idempotency = IdempotencyKey(key: "key-\(place)", bodyDigest: 1)
        }
        for ticket in 1...3 {
            rig.step(.atomic(batch, Ticket(UInt64(ticket))))
            #expect(rig.answers.last?.refusedBatch?.index == 2)
        }
        rig.step(.atomic(Array(batch.prefix(2)), Ticket(4)))
        #expect(rig.lastAcceptedAll != nil)
    }

    @Test func `after a restart keys count for a day, and an hour at most`() {
        let hour = Span.hours(1).nanoseconds
        let first = IdempotencyKey.hour(of: Rig.epoch)
        var rig = Rig { $0.limits.idempotencyKeysMax = 48 }
        var recovery = rig.recovery()
        for place in 0..<48 {
            recovery.idempotency.insert(
                [UInt64(place)], seqs: [Int64(place + 1)], hour: first + Int64(place / 2))
        }
        rig.now = Instant(nanoseconds: (first + 23) * hour + hour / 2)
        rig.recover(recovery)
        func send(_ key: Int) {
            rig.command(.start, #"{"type":"Runner","state":{}}"#, id: "cat-\(key)") {
                $0.idempotency = IdempotencyKey(key: "key-\(key)", bodyDigest: 1)
            }
        }
        send(0)
        #expect(BoundsTests.limit(rig) == "idempotency_keys")
        for passed in 1...23 {
            rig.now = Instant(nanoseconds: (first + 24 + Int64(passed)) * hour)
            for key in 0..<2 {
                send(10 * passed + key)
                #expect(rig.lastAccepted != nil, "\(key) after \(passed) h")
            }
        }
    }
}
