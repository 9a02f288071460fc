import CoreRig
import Testing
import TomboloCore

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
