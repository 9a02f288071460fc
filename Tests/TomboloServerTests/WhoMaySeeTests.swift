import Glibc
import Testing
import TomboloCore
import TomboloJSON

@testable import TomboloServer

/// Who may see what, as a property: random tenants, keys, users, devices and activities, whose
/// states, attributes, alerts and ids carry taints. A taint reaches only those who have the right
/// to it, in answers of any status, in tails and in pushes.
///
/// `TOMBOLO_WHO_ROUNDS=200` plays more worlds; each prints its seed where it fails.
@Suite struct WhoMaySeeTests {
    private static var seeds: Range<UInt64> {
        let text = getenv("TOMBOLO_WHO_ROUNDS").map { String(cString: $0) }
        return 0..<(text.flatMap { UInt64($0) } ?? 3)
    }

    @Test(arguments: seeds)
    func `no byte of anybody's taint reaches whoever has no right to it`(seed: UInt64) async throws
    {
        try await withDoors(apps: TaintedWorld.apps) { doors in
            var world = TaintedWorld(seed: seed, doors)
            try await world.populate()
            try await world.trespass()
            for walker in world.walkers { try await world.walk(walker, seed: seed) }
            world.checkPushes(seed: seed)
        }
    }

    /// Numbers, ids, cursors, headers, counts: all of one tenant's answers are the same, whatever
    /// others do meanwhile.
    @Test(arguments: seeds)
    func `a tenant's answers do not tell whether another tenant is busy`(seed: UInt64) async throws
    {
        // What leaks differs each time. What differs once came later or earlier on a busy machine.
        var suspects: Set<String>?
        var pairs: [String: String] = [:]
        for _ in 0..<8 where suspects?.isEmpty != true {
            let calm = try await Self.transcript(seed: seed, otherIsBusy: false)
            let busy = try await Self.transcript(seed: seed, otherIsBusy: true)
            #expect(calm.count > 100)
            // Pushes come last: how many have gone by then is a matter of time.
            let unequal = zip(calm, busy).filter { $0.0 != $0.1 }
            for (one, other) in unequal { pairs[Self.what(one)] = "\(one)\n\(other)" }
            let differing = Set(unequal.map { Self.what($0.0) })
            suspects = suspects.map { $0.intersection(differing) } ?? differing
        }
        for suspect in (suspects ?? []).sorted() {
            Issue.record(
                "seed \(seed): the answer tells of another tenant: \(pairs[suspect] ?? suspect)")
        }
    }

    private static func transcript(seed: UInt64, otherIsBusy: Bool) async throws -> [String] {
        let box = Transcript()
        try await withDoors(apps: TaintedWorld.apps) { doors in
            var world = TaintedWorld(seed: seed, doors)
            box.lines = try await world.transcript(otherIsBusy: otherIsBusy)
        }
        return box.lines
    }

    /// The question of an answer: method and path. Of a push or a tail its first words.
    private static func what(_ line: String) -> String {
        line.split(separator: " ").prefix(2).joined(separator: " ")
    }
}

/// Lines that leave a closure.
final class Transcript: @unchecked Sendable {  // used on the loop's thread only
    var lines: [String] = []
}
