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
        var transcripts: [[String]] = []
        for isBusy in [false, true] {
            let box = Transcript()
            try await withDoors(apps: TaintedWorld.apps) { doors in
                var world = TaintedWorld(seed: seed, doors)
                box.lines = try await world.transcript(otherIsBusy: isBusy)
            }
            transcripts.append(box.lines)
        }
        #expect(transcripts[0].count > 100)
        // Pushes come last: how many have gone by then is a matter of time.
        for (calm, busy) in zip(transcripts[0], transcripts[1]) {
            #expect(calm == busy, "seed \(seed)")
        }
    }
}

/// Lines that leave a closure.
final class Transcript: @unchecked Sendable {  // used on the loop's thread only
    var lines: [String] = []
}
