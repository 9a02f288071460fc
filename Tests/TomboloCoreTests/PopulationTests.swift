import CoreRig
import Testing
import TomboloCore
import TomboloJSON

/// What one request costs where there is much: it grows as the population does, and never as its
/// square.
@Suite struct PopulationTests {
    /// A phone of `ann` with so many running cards that have their tokens.
    static func crowded(_ cards: Int, tokens: Bool = false) -> Rig {
        var rig = Rig { $0.limits.runningPerRecipientMax = .max }
        for card in 0..<cards {
            rig.command(
                .start, #"{"type":"Runner","audience":{"user":"ann"},"state":{"lap":0}}"#,
                id: "card-\(card)")
        }
        rig.device("phone", user: "ann")
        if tokens { rig.token("start:Runner", "aa") }
        rig.advance(to: 5)
        return rig
    }

    /// What each of some requests takes of this thread's processor.
    static func costs(_ cards: Int) -> [(name: String, seconds: Double)] {
        var costs: [(String, Double)] = []
        func measure(_ name: String, _ rig: Rig, _ work: (inout Rig) -> Void) {
            var least = Double.infinity
            for _ in 0..<2 {
                var rig = rig
                // The copy is made here.
                rig.device("other")
                least = min(least, processorSeconds { work(&rig) })
            }
            costs.append((name, least))
        }
        var empty = Rig { $0.limits.runningPerRecipientMax = .max }
        for card in 0..<cards {
            empty.command(
                .start, #"{"type":"Runner","audience":{"user":"ann"},"state":{"lap":0}}"#,
                id: "card-\(card)")
        }
        measure("registering", empty) { $0.device("phone", user: "ann") }
        let waiting = crowded(cards)
        measure("its start token", waiting) { $0.token("start:Runner", "aa") }
        let started = crowded(cards, tokens: true)
        measure("presence", started) { $0.presence(.active) }
        measure("an update token", started) { $0.token("activity:card-1", "bb") }
        measure("a report", started) { $0.report("card-1", #"{"phase":"active"}"#) }
        measure("a start", started) {
            $0.command(
                .start, #"{"type":"Runner","audience":{"user":"ann"},"state":{"lap":0}}"#,
                id: "one-more")
        }
        measure("another user", started) { $0.device("phone", user: "bob") }
        measure("its own user again", started) { $0.device("phone", user: "ann") }
        measure("the device's end", started) { $0.tell(.delete) }
        return costs
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
