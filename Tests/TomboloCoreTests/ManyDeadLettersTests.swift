import CoreRig
import Testing

@testable import TomboloCore

/// A tenant with thousands of dead letters holds up nobody, and takes no room from others.
@Suite struct ManyDeadLettersTests {
    private static let other = TenantID(Identifier("beta")!)

    /// As a log has them.
    private static func adopt(
        _ count: Int, of tenant: TenantID = Rig.tenant, _ rig: inout Rig,
        _ name: (Int64) -> String = { "dog-\($0)" }
    ) {
        let first = rig.core.deadLetters.nextNumber
        for number in first..<first + Int64(count) {
            let letter = DeadLetter(
                number: number, serial: number,
                activity: ActivityKey(tenant: tenant, id: Identifier(name(number))!),
                incarnation: 1, renewal: 0, device: Identifier("phone")!, event: .update,
                version: 2, status: 400, reason: "TopicDisallowed", apnsID: "", at: Rig.epoch)
            #expect(rig.core.deadLetters.adopt(letter.record()) == [])
        }
    }

    private static func letters(_ rig: borrowing Rig, of tenant: TenantID = Rig.tenant)
        -> [DeadLetter]
    {
        let query = DeadLetterQuery(tenant: tenant)
        return rig.core.deadLetters(query, before: nil, limit: 20_000).letters
    }

    @Test func `a retry of many goes in pieces that have every letter once`() {
        var rig = Rig()
        Self.adopt(300, &rig)
        Self.adopt(50, of: Self.other, &rig)
        Self.adopt(300, &rig)
        let query = DeadLetterQuery(tenant: Rig.tenant)
        let pieces = rig.core.pieces(of: query)
        #expect(pieces.count == 3)
        var all = Stored(.updated)
        for (index, serials) in pieces.enumerated() {
            var piece = query
            piece.serials = serials
            rig.step(.retry(piece, Ticket(9_001 + UInt64(index))))
            let stored = rig.lastStored ?? Stored(.updated)
            #expect((1...DeadLetterQuery.pieceMax).contains(stored.unreachable))
            all.add(stored)
        }
        #expect(all.unreachable == 600)
        #expect(all.kept == [KeptLetters(.noCard, count: 600)])
    }

    @Test func `however many letters a card has, one push is for all`() {
        var rig = Rig.running(until: 20)
        rig.update(lap: 1, until: 40)
        Self.adopt(200, &rig)
        Self.adopt(300, &rig) { _ in "cat" }
        let before = rig.pushes.count
        var all = Stored(.updated)
        for (index, serials) in rig.core.pieces(of: DeadLetterQuery(tenant: Rig.tenant))
            .enumerated()
        {
            var piece = DeadLetterQuery(tenant: Rig.tenant)
            piece.serials = serials
            rig.step(.retry(piece, Ticket(9_001 + UInt64(index))))
            all.add(rig.lastStored ?? Stored(.updated))
            rig.advance(to: 60 + Double(index))
        }
        #expect(all.count == 300)
        #expect(all.kept == [KeptLetters(.noCard, count: 200)])
        #expect(rig.pushes.count == before + 1)
    }

    @Test func `without a match there is one piece, which says so`() {
        var rig = Rig()
        Self.adopt(3, &rig)
        var query = DeadLetterQuery(tenant: Rig.tenant)
        query.serial = 9
        let pieces = rig.core.pieces(of: query)
        #expect(pieces == [query.serials])
        rig.step(.retry(query, Ticket(9_001)))
        #expect(rig.lastRefusal == .unknownDeadLetter)
    }

    @Test func `beyond ten thousand a tenant's oldest go, and nobody else's`() {
        var rig = Rig.running()
        Self.adopt(5, of: Self.other, &rig)
        Self.adopt(DeadLetterTable.countMax + 99, &rig)
        rig.verdict = { _ in .refusal(400, "TopicDisallowed", .push) }
        rig.advance(to: 20)
        rig.update(lap: 1, until: 25)
        let left = Self.letters(rig)
        #expect(left.count == DeadLetterTable.countMax)
        #expect(left.first?.activity.id.rawValue == "cat", "the newest is there")
        #expect(left.last?.serial == 106, "five are of the other tenant, a hundred are gone")
        #expect(Self.letters(rig, of: Self.other).count == 5)
        #expect(rig.core.counters(of: Rig.tenant).deadLetters == left.count)
        #expect(rig.core.counters(of: Self.other).deadLetters == 5)
    }
}
