import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// What one request costs where there is much: it grows as the population does, and never as its
/// square.
@Suite struct PopulationTests {
    private static let start =
        #"{"type":"Runner","audience":{"user":"ann"},"state":{"lap":0}}"#

    /// What each request in the life of a phone takes of this thread's processor, where its user
    /// has so many running cards.
    static func life(_ cards: Int) -> [(name: String, seconds: Double)] {
        var costs: [(String, Double)] = []
        var rig = Rig { $0.limits.runningPerRecipientMax = .max }
        func measure(_ name: String, _ work: (inout Rig) -> Void) {
            costs.append((name, processorSeconds { work(&rig) }))
            rig.advance(to: (rig.now - Rig.epoch).seconds + 5)
        }
        for card in 0..<cards { rig.command(.start, start, id: "card-\(card)") }
        measure("registering") { $0.device("phone", user: "ann") }
        measure("its start token") { $0.token("start:Runner", "aa") }
        measure("presence") { $0.presence(.active) }
        measure("an update token") { $0.token("activity:card-1", "bb") }
        measure("a report") { $0.report("card-1", #"{"phase":"active"}"#) }
        measure("a start") { $0.command(.start, start, id: "one-more") }
        measure("its own user again") { $0.device("phone", user: "ann") }
        measure("another user") { $0.device("phone", user: "bob") }
        measure("the device's end") { $0.tell(.delete) }
        return costs
    }

    /// The least of two lives: others run on this machine.
    static func costs(_ cards: Int) -> [(name: String, seconds: Double)] {
        zip(life(cards), life(cards)).map { ($0.name, min($0.seconds, $1.seconds)) }
    }

    @Test func `a start on a channel looks at no other activity`() {
        func cost(_ others: Int) -> Double {
            var rig = Rig()
            for other in 0..<others {
                rig.command(.start, #"{"type":"Runner","state":{"lap":0}}"#, id: "other-\(other)")
            }
            rig.channel("stage", "c1")
            return processorSeconds {
                for _ in 0..<20 {
                    rig.command(
                        .start, #"{"type":"Runner","audience":{"channel":"stage"},"state":{}}"#)
                    rig.command(.end, "{}")
                    rig.advance(to: 10 + (rig.now - Rig.epoch).seconds)
                    rig.command(
                        .start, #"{"type":"Runner","audience":{"channel":"stage"},"state":{}}"#
                    ) { $0.restart = true }
                    rig.command(.end, "{}")
                    rig.advance(to: 10 + (rig.now - Rig.epoch).seconds)
                }
            }
        }
        let (few, many) = (cost(100), cost(6_000))
        #expect(many < 4 * max(few, 0.02), "\(few) s, then \(many) s")
    }

    @Test func `one end for many looks at so many in one step`() throws {
        var rig = Rig()
        for place in 0..<5_000 {
            let type = place.isMultiple(of: 10) ? "Rare" : "Common"
            rig.command(.start, #"{"type":"\#(type)","state":{}}"#, id: "a-\(place)")
        }
        guard case .end(let end) = try Command.Content(kind: .end, Rig.json("{}")) else {
            Issue.record("an end is read as something else")
            return
        }
        for (type, all) in [("Rare", 500), ("Common", 4_500)] {
            var request = EndMany(
                tenant: Rig.tenant, type: type, user: nil, end: end, body: Array("{}".utf8))
            var (place, planned) = (0, 0)
            while let places = rig.core.piece(of: request, from: place) {
                #expect(places.lowerBound == place && !places.isEmpty)
                #expect(places.count <= EndMany.lookedAtMax)
                request.places = places
                let piece = try rig.core.dryRunEnds(request, now: rig.now).count
                #expect(piece <= EndMany.pieceMax)
                planned += piece
                place = places.upperBound
            }
            #expect(planned == all)
        }
    }

    @Test func `what a request of a phone costs grows as its cards do`() {
        let few = Self.costs(250)
        let many = Self.costs(2_000)
        for (one, other) in zip(few, many) {
            // Eight times the cards: linear is 8, quadratic 64. A floor, for little is noise.
            let growth = other.seconds / max(one.seconds, 0.0005)
            #expect(growth < 24, "\(one.name): \(one.seconds) s, then \(other.seconds) s")
        }
    }
}
