import CoreRig
import Testing

@testable import TomboloCore

/// A restart forgets nothing, and repeats nothing: what is known is on record, and recovery adds
/// nothing to it. Each field of which that is not true has a row with its reason. A row that is not
/// needed any more is red: take it out.
@Suite struct RestartProofTests {
    /// Recovered twice, 7 s apart, from one log.
    private static let notOnRecord = [
        ".pacing.lastSend": unknown, ".pacing.lastLowPrioritySend": unknown,
        "budget.lastSend": unknown, "budget.lastLowPrioritySend": unknown,
        ".pacing.bucket.fullAt": "a bucket is full now at the earliest",
        "._cursor": "a clip that plays goes on by the clock",
        ".phaseSince": "the deadline of an unknown start begins again",
        ".startWaitsSince": "a card without a checkpoint waits since its start",
        ".flags": "a state that the phone has dropped is sent again, by the clock",
        ".heard.presence": "a presence that is old counts as background",
    ]
    private static let unknown = "a push that is not on record may have gone until now"

    /// Recovered, stored, and recovered again.
    private static let addedAgain = [
        "._cursor": "frames that were due meanwhile are counted at each recovery",
        "._rare": "the same",
        ".flags": "an end that may have gone takes a token at each recovery, and is dirty then",
        ".pacing.taken": "a card that was ahead of the clock may have had later timestamps",
        "writes checkpoint": "these marks",
    ]

    /// Fails where a field has no row, and where a row has no field.
    private static func expect(_ found: Set<String>, _ rows: [String: String]) {
        let unexpected = found.filter { field in !rows.keys.contains { field.contains($0) } }
        let unneeded = rows.keys.filter { row in !found.contains { $0.contains(row) } }
        #expect(unexpected.sorted() == [], "these fields have no row")
        #expect(unneeded.sorted() == [], "these rows are not needed any more")
    }

    private static func found(
        _ compare: (CoreRecovery, Instant) -> Set<String>
    ) -> Set<String> {
        var all: Set<String> = []
        for seed in 0..<60 {
            var history = RandomHistory(seed: UInt64(seed))
            history.run(steps: 40)
            for (recovery, now) in history.recoveries { all.formUnion(compare(recovery, now)) }
        }
        return all
    }

    @Test func `two recoveries of one log are equal, whenever they run`() {
        let found = Self.found { RestartProof.afterSevenSeconds($0, now: $1) }
        Self.expect(found, Self.notOnRecord)
    }

    @Test func `a recovery whose batch is stored is repeated without a difference`() {
        let found = Self.found { RestartProof.afterItsOwnBatch($0, now: $1) }
        Self.expect(found, Self.addedAgain)
    }
}
